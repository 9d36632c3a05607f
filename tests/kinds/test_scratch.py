"""Scratch memory: the same each time, never that of somebody who still uses it."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from summarykit.kinds import binning, histogram
from summarykit.kinds.scratch import LINE, Scratch


def test_it_is_used_again_once_nobody_has_it():
    scratch = Scratch()
    first = scratch.rows(3, 100)
    place = first.ctypes.data
    assert not place % LINE
    assert first.shape == (3, 2 * LINE)
    part = first[1].view(np.float32)
    del first
    assert not np.shares_memory(scratch.take(300), part)
    del part
    assert scratch.take(10).ctypes.data == place


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="no signals")
def test_a_signal_handler_that_counts_values_of_its_own_spoils_none(monkeypatch):
    """At the end of the interpreter the main thread counts, for one writer after the other."""
    ours, theirs = (np.random.default_rng(seed).normal(size=50_000).astype(np.float32) for seed in (1, 2))
    expected, cut = histogram.histogram(ours), binning.cut

    def interrupted(*args):
        monkeypatch.setattr(binning, "cut", cut)
        signal.raise_signal(signal.SIGINT)
        cut(*args)

    before = signal.signal(signal.SIGINT, lambda *_: histogram.histogram(theirs))
    try:
        monkeypatch.setattr(binning, "cut", interrupted)
        found = histogram.histogram(ours)
    finally:
        signal.signal(signal.SIGINT, before)
    assert binning.cut is cut
    assert found.counts.tolist() == expected.counts.tolist()
