"""Which call of the host launched what on a device: by the number that both carry."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.choosing import on_devices
from summarykit.profiler.recording import Category, Spans
from summarykit.shapes import Array, Ints


class Calls:
    """The calls that launch.

    Attributes:
        any: whether there are such calls.
    """

    def __init__(self, spans: Spans, among: Array | None = None) -> None:
        """Find them.

        Args:
            spans: all spans.
            among: bool, shape ``[n]``: which calls count; by default all into a driver.
        """
        called = spans.of(Category.RUNTIME) & ~on_devices(spans) & (spans.correlation >= 0)
        calls = np.flatnonzero(called if among is None else called & among)
        self._calls = calls[np.argsort(spans.correlation[calls], kind="stable")]
        self._start, self._correlation = spans.start[self._calls], spans.correlation[self._calls]
        self.any = len(calls) > 0

    def behind(self, correlation: Ints) -> Ints:
        """The call behind each span, as its place among all spans; -1 where none is known."""
        return self._found(correlation, self._calls)

    def times(self, correlation: Ints) -> Ints:
        """When that call was made, in ns; -1 where none is known."""
        return self._found(correlation, self._start)

    def _found(self, correlation: Ints, column: Ints) -> Ints:
        if not self.any:
            return np.full(len(correlation), -1)
        place = np.searchsorted(self._correlation, correlation).clip(0, len(self._correlation) - 1)
        return np.where(self._correlation[place] == correlation, column[place], -1)
