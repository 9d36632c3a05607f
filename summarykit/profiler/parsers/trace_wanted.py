"""What to keep of a trace beside the times of its spans: whole arguments of a million events would not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from summarykit.profiler.parsers.columns import Growing
from summarykit.profiler.parsers.trace_times import MOST, is_time
from summarykit.shapes import Floats


@dataclass(frozen=True)
class Wanted:
    """Which arguments to keep.

    Attributes:
        instant: name of the instants to keep.
        instant_arguments: which numbers of theirs.
        measured: category of the spans of which to keep numbers; -1 for none.
        measures: which ones.
        detailed: category of the spans of which to keep arguments of any type; -1 for none.
        details: which ones.
    """

    instant: str = ""
    instant_arguments: Sequence[str] = ()
    measured: int = -1
    measures: Sequence[str] = ()
    detailed: int = -1
    details: Sequence[str] = ()


NOTHING = Wanted()


class Rows:
    """Rows of numbers, eight bytes each."""

    def __init__(self, width: int) -> None:
        """Have no row yet.

        Args:
            width: numbers in a row.
        """
        self._columns = Growing(*[np.float64] * width)

    def add(self, first: Sequence[float], arguments: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
        """Add rows: a number each and the arguments of these names, NaN for what is no number."""
        if len(first):
            self._columns.add(np.array(first, np.float64), *(_numbers([each.get(name, nan) for each in arguments]) for name in names))

    def columns(self) -> list[Floats]:
        """The columns, float64; there are no rows afterwards."""
        return self._columns.take()


def _numbers(values: list[Any]) -> Floats:
    if set(map(type, values)) <= {int, float}:
        found = np.array(values)
        if found.dtype.kind in "if":
            return np.where(np.abs(found) < MOST, found, nan)
    return np.array([value if is_time(value) else nan for value in values], np.float64)
