"""Points in long form: one row per point."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit import lazy
from summarykit.reading.source import Key
from summarykit.reading.track import Track
from summarykit.shapes import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class Long:
    """Columns of one length; ``value`` is NaN for what is no scalar, and ``is_scalar`` tells that from a recorded NaN."""

    kind: Array
    tag: Array
    step: Ints
    wall_time: Floats
    value: Floats

    @property
    def is_scalar(self) -> Array:
        """Where ``value`` was recorded."""
        return np.asarray(self.kind == "scalar")

    def columns(self) -> dict[str, Array]:
        """The columns by name, in order."""
        return {"kind": self.kind, "tag": self.tag, "step": self.step, "wall_time": self.wall_time, "value": self.value}


def long_form(tracks: Iterable[tuple[Key, Track]]) -> Long:
    """Join tracks, each with its kind and tag."""
    found = list(tracks)
    lengths = [len(track) for _, track in found]
    return Long(
        kind=_repeat([key[0] for key, _ in found], lengths),
        tag=_repeat([key[1] for key, _ in found], lengths),
        step=_join([track.steps for _, track in found], np.int64),
        wall_time=_join([track.wall_times for _, track in found], np.float64),
        value=_join([track.values if key[0] == "scalar" else np.full(len(track), np.nan) for key, track in found], np.float64),
    )


def to_pandas(columns: dict[str, Array]) -> Any:
    """A ``pandas.DataFrame``."""
    return lazy.optional("pandas", extra="pandas", purpose="to_pandas()").DataFrame(columns)


def to_arrow(columns: dict[str, Array], valid: Array) -> Any:
    """A ``pyarrow.Table``; the value is null where not ``valid``."""
    arrow = lazy.optional("pyarrow", extra="arrow", purpose="to_arrow()")
    return arrow.table({name: arrow.array(column, mask=~valid if name == "value" else None) for name, column in columns.items()})


def to_polars(columns: dict[str, Array], valid: Array) -> Any:
    """A ``polars.DataFrame``; the value is null where not ``valid``."""
    polars = lazy.optional("polars", extra="polars", purpose="to_polars()")
    texts = {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
    frame = polars.DataFrame({**texts, "_valid": valid})
    return frame.with_columns(polars.when(polars.col("_valid")).then(polars.col("value")).alias("value")).drop("_valid")


def _repeat(names: list[str], lengths: list[int]) -> Array:
    return np.repeat(np.array(names, object), lengths)


def _join(columns: list[Array], dtype: type) -> Array:
    return np.concatenate(columns) if columns else np.empty(0, dtype)
