"""Points in long form: one row per point."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summarykit import lazy
from summarykit.reading.source import Key
from summarykit.reading.track import Track
from summarykit.shapes import Array

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length.

    Attributes:
        columns: by name, in order; ``value`` is float64, NaN for what is no scalar.
        is_scalar: bool, shape ``[n]``: tells that from a recorded NaN.
    """

    columns: dict[str, Array]
    is_scalar: Array

    def __len__(self) -> int:
        return len(self.is_scalar)

    def __getattr__(self, name: str) -> Array:
        """A column: ``table.step``."""
        try:
            return self.columns[name]
        except KeyError:
            raise AttributeError(f"no column {name!r}; there are {', '.join(self.columns)}") from None

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return lazy.optional("pandas", extra="pandas", purpose="to_pandas()").DataFrame(self.columns)

    def to_arrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table``; value is null for what is no scalar.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        arrow = lazy.optional("pyarrow", extra="arrow", purpose="to_arrow()")
        missing = {"value": ~self.is_scalar}
        kinds = {name: arrow.string() if column.dtype == object else None for name, column in self.columns.items()}
        return arrow.table({name: arrow.array(column, kinds[name], mask=missing.get(name)) for name, column in self.columns.items()})

    def to_polars(self) -> polars.DataFrame:
        """A ``polars.DataFrame``; value is null for what is no scalar.

        Raises:
            MissingExtraError: polars is not installed.
        """
        polars = lazy.optional("polars", extra="polars", purpose="to_polars()")
        texts = {name: column.tolist() for name, column in self.columns.items() if column.dtype == object}
        schema = {name: polars.String if name in texts else None for name in self.columns}
        frame = polars.DataFrame({**self.columns, **texts}, schema=schema)
        value = polars.when(polars.lit(polars.Series(self.is_scalar))).then(polars.col("value"))
        return frame.with_columns(value.alias("value"))


def long_form(tracks: Iterable[tuple[Key, Track]]) -> Table:
    """Join tracks, each with its kind and tag."""
    found = list(tracks)
    lengths = [len(track) for _, track in found]
    kinds = repeat([key[0] for key, _ in found], lengths)
    columns = {
        "kind": kinds,
        "tag": repeat([key[1] for key, _ in found], lengths),
        "step": join([track.steps for _, track in found], np.int64),
        "wall_time": join([track.wall_times for _, track in found], np.float64),
        "value": join([_numbers(key, track) for key, track in found], np.float64),
    }
    return Table(columns, np.asarray(kinds == "scalar", np.bool_))


def by_run(tables: dict[str, Table]) -> Table:
    """Tables of several runs, one below the other, with a column ``run`` in front."""
    found = list(tables.values())
    names = list(found[0].columns) if found else ["kind", "tag", "step", "wall_time", "value"]
    joined = {name: join([table.columns[name] for table in found], np.float64) for name in names}
    run = repeat(list(tables), [len(table) for table in found])
    return Table({"run": run, **joined}, join([table.is_scalar for table in found], np.bool_))


def _numbers(key: Key, track: Track) -> Array:
    return track.values if key[0] == "scalar" else np.full(len(track), np.nan)


def repeat(names: list[str], lengths: list[int]) -> Array:
    """Each name as often as its length says: an object array."""
    return np.repeat(np.array(names, object), lengths)


def join(columns: list[Array], dtype: type) -> Array:
    """Columns one behind the other; of none an empty one of that dtype."""
    return np.concatenate(columns) if columns else np.empty(0, dtype)


class Tabular:
    """Whose points can be given as one table."""

    def table(self) -> Table:
        """All points in columns."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a ``pandas.DataFrame``: a row per point; value is NaN for what is no scalar.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return self.table().to_pandas()

    def to_arrow(self) -> pyarrow.Table:
        """The same as a ``pyarrow.Table``; value is null for what is no scalar.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        return self.table().to_arrow()

    def to_polars(self) -> polars.DataFrame:
        """The same as a ``polars.DataFrame``; value is null for what is no scalar.

        Raises:
            MissingExtraError: polars is not installed.
        """
        return self.table().to_polars()
