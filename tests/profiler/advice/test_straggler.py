"""The advice on a rank that is late says in which phase it takes longer than the others."""

from __future__ import annotations

import numpy as np
import pytest
from testkit.recordings import recording

from summarykit.profiler.advice import Advice
from summarykit.profiler.analysis import analyse
from summarykit.profiler.recording import Category, Recording, Table

RANKS, STEPS, LATE = 4, 20, 2
PHASES = {"data wait": 2.0, "forward": 10.0, "backward": 12.0, "optimizer": 3.0}


def rank_of(rank: int, slow: str, extra: float) -> Recording:
    """Steps end together: what a rank is faster than the slowest it waits at the end of its backward."""
    spans, steps, starts = [], [], []
    length = sum(PHASES.values()) + extra + 1.0
    for step in range(STEPS):
        now = step * length
        for name, time in PHASES.items():
            spent = time + (extra if rank == LATE and name == slow else 0.0)
            waits = 1.0 + (extra if rank != LATE else 0.0) if name == "backward" else 0.0
            spans.append((name, Category.PHASE, 0, now, spent + waits))
            if waits:
                spans.append(("communication", Category.PHASE, 0, now + spent, waits))
                starts.append((now + spent, now + spent + waits))
            now += spent + waits
        steps.append((step, step * length, (step + 1) * length))
    start, end = (np.rint(np.array(column) * 1e6).astype(np.int64) for column in zip(*starts, strict=True))
    table = Table(
        sequence=np.arange(STEPS), group=np.zeros(STEPS, int), operation=np.array(["gradients"] * STEPS, object), start=start, end=end
    )
    return recording(spans, steps, rank=rank, world_size=RANKS, tables={"collectives": table})


def advice_on(slow: str, extra: float) -> list[Advice]:
    found = analyse([rank_of(rank, slow, extra) for rank in range(RANKS)]).advice
    return [advice for advice in found if advice.rule == "straggler"]


@pytest.mark.parametrize("slow", ["data wait", "forward", "backward"])
def test_the_phase_is_named(slow):
    (advice,) = advice_on(slow, 8.0)
    assert f"rank {LATE}" in advice.title
    assert f"it takes 8.00 ms more than they do in: {slow}" in advice.evidence
    assert advice.gain_ms == pytest.approx(8.0)
