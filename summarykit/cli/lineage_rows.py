"""The table of runs as a command sees it: columns found by short names, also scalars by their tags; rows filtered and sorted."""

from __future__ import annotations

import difflib
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from summarykit.cli import select
from summarykit.cli.outcome import CommandError
from summarykit.reading.lineage_importance import Importance, importance
from summarykit.reading.lineage_table import CUSTOM, METRIC, LineageTable, table_of

_CONDITION = re.compile(r"(?P<column>.+?)\s*(?P<sign><=|>=|!=|==|=|<|>)\s*(?P<value>.*)", re.DOTALL)
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_ALWAYS = ("run", "status", "duration")

Row = Mapping[str, Any]


def rows(runs: select.Runs) -> Rows:
    """The rows of some runs."""
    found = table_of({name: run.lineage() for name, run in runs.items()})
    return Rows(found, found.rows, runs)


@dataclass(frozen=True)
class Rows:
    """Some rows of a table.

    Attributes:
        table: the table.
        chosen: the rows.
        runs: the runs by name, for what the table does not have.
    """

    table: LineageTable
    chosen: Sequence[Row]
    runs: select.Runs

    def __len__(self) -> int:
        return len(self.chosen)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.chosen)

    @property
    def columns(self) -> Sequence[str]:
        """Every column of the table that one of the rows fills."""
        return [name for name in self.table.columns if name in _ALWAYS[:2] or any(row.get(name) is not None for row in self.chosen)]

    @property
    def settings(self) -> Sequence[str]:
        """Hyper-parameters in which the rows differ."""
        return [name for name in self.table.hyper_parameters if self._differs(name)]

    @property
    def telling(self) -> Sequence[str]:
        """The columns that one wants to see first: status, settings in which the rows differ, results."""
        own = [name for name in _ALWAYS if name in self.columns] + ["network"] * self._differs("network")
        return [*own, *self.settings, *(name for name in self.table.metrics if name in self.columns)]

    def value(self, row: Row, column: str) -> Any:
        """A cell; of a column that the table does not have, the last value of the scalar with that tag."""
        if column in self.table.columns:
            return row.get(column)
        run = self.runs[row["run"]]
        if column not in run.tags().get("scalar", ()):
            return None
        values = run.scalars(column).value
        return float(values[-1]) if len(values) else None

    def resolve(self, name: str) -> str:
        """The column that is meant: of that name, a metric, something that the user told, or the tag of a scalar.

        Raises:
            CommandError: there is none.
        """
        known = self.table.columns
        for candidate in (name, METRIC + name, CUSTOM + name):
            if candidate in known:
                return candidate
        tags = {tag for run in self.runs.values() for tag in run.tags().get("scalar", ())}
        if name in tags:
            return name
        alike = difflib.get_close_matches(name, sorted({*known, *tags}), 5, 0.3) or known
        raise CommandError(f"no column {name!r}; there are {', '.join(alike)} (--columns all shows every one)")

    def where(self, condition: str) -> Rows:
        """The rows for which a condition holds; a cell without a value fulfils none but ``!=``.

        Raises:
            CommandError: it is no condition.
        """
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise CommandError(f"--where {condition!r}: write a column, one of {' '.join(_SIGNS)}, and a value, such as 'loss<0.1'")
        column, holds = self.resolve(match["column"]), _SIGNS[match["sign"]]
        return replace(self, chosen=[row for row in self.chosen if _holds(holds, self.value(row, column), match["value"])])

    def by(self, name: str, *, descending: bool) -> Rows:
        """The rows in the order of a column; those without a value come last."""
        column = self.resolve(name)
        having = [row for row in self.chosen if not _is_missing(self.value(row, column))]
        lacking = [row for row in self.chosen if _is_missing(self.value(row, column))]
        having.sort(key=lambda row: _order(self.value(row, column)), reverse=descending)
        return replace(self, chosen=having + lacking)

    def is_numeric(self, column: str) -> bool:
        """Whether its cells are numbers."""
        found = [self.value(row, column) for row in self.chosen]
        return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in found if value is not None)

    def importance(self, column: str) -> Importance:
        """How much each setting has to do with a column.

        Raises:
            ValueError: too few rows have it.
        """
        settings = {name: [self.value(row, name) for row in self.chosen] for name in self.settings if name != column}
        return importance(column, [self.value(row, column) for row in self.chosen], settings)

    def _differs(self, name: str) -> bool:
        return len({repr(row.get(name)) for row in self.chosen}) > 1


def _holds(holds: Callable[[Any, Any], bool], value: Any, wanted: str) -> bool:
    if value is None:
        return holds is operator.ne
    if isinstance(value, bool):
        return holds(as_text(value), wanted.lower())
    if isinstance(value, (int, float)):
        number = _number(wanted)
        if number is None:
            return holds is operator.ne
        return holds(0, 0) if _is_missing(value) and math.isnan(number) else holds(value, number)    # who asks for NaN means it
    return holds(as_text(value), wanted)


def as_text(value: Any) -> str:
    """A cell that is no number: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _order(value: Any) -> tuple[int, float, str]:
    """Numbers before texts."""
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0.0, str(value))
