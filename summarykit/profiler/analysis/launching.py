"""Which call of the host launched what on a device: by the number that both carry."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.choosing import on_devices
from summarykit.profiler.recording import Category, Spans
from summarykit.shapes import Array, Ints


def launched_by(spans: Spans, among: Array | None = None) -> Ints:
    """The call behind each span: int64 indexes, shape ``[n]``; -1 where none is known.

    Args:
        spans: all spans.
        among: bool, shape ``[n]``: which calls count; by default all into a driver.
    """
    called = spans.of(Category.RUNTIME) & ~on_devices(spans) & (spans.correlation >= 0)
    calls = np.flatnonzero(called if among is None else called & among)
    if not len(calls):
        return np.full(len(spans), -1)
    calls = calls[np.argsort(spans.correlation[calls], kind="stable")]
    found = calls[np.searchsorted(spans.correlation[calls], spans.correlation).clip(0, len(calls) - 1)]
    return np.where(spans.correlation[found] == spans.correlation, found, -1)


def launch_times(spans: Spans, among: Array | None = None) -> Ints:
    """When that call was made, in ns; -1 where none is known."""
    call = launched_by(spans, among)
    return np.where(call >= 0, spans.start[call], -1) if len(call) else call
