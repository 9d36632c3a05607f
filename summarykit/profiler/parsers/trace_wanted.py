"""What to keep of a trace beside the times of its spans: whole arguments of a million events would not fit into memory."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from summarykit.profiler.parsers.trace_times import is_time
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
        self._width, self._numbers = width, array("d")

    def add(self, first: float, arguments: dict[str, Any], names: Sequence[str]) -> None:
        """Add a row: a number and the arguments of these names, NaN for what is no number."""
        self._numbers.append(first)
        self._numbers.extend([value if is_time(value) else nan for value in map(arguments.get, names)])

    def columns(self) -> list[Floats]:
        """The columns, float64."""
        return list(np.array(self._numbers, np.float64).reshape(-1, self._width).T)
