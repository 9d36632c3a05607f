"""The rank that the others wait for is named, wherever in the step it is slow; none is named without a cause."""

from __future__ import annotations

import numpy as np
import pytest
from testkit.recordings import recording

from summarykit.profiler.analysis import analyse
from summarykit.profiler.recording import Category, Table

RANKS, STEPS = 8, 20


def trained(seed: int, late: int | None = None, delay: float = 8.0, noted: bool = False) -> list:
    """Ranks that compute for about 50 ms a step and then reduce their gradients together, in ms; clocks of ranks differ."""
    random = np.random.default_rng(seed)
    clocks = random.uniform(0, 1e6, RANKS)
    spans, steps, time = [[] for _ in range(RANKS)], [[] for _ in range(RANKS)], 0.0
    for step in range(STEPS):
        for half in range(2):
            arrival = time + random.normal(25, 1.5, RANKS)
            if late is not None and half == 1:
                arrival[late] += delay * random.uniform(0.6, 1.4)
            done = arrival.max() + 0.3
            for rank in range(RANKS):
                begun = clocks[rank] + arrival[rank]
                spans[rank].append(("gloo:all_reduce", Category.COMMUNICATION, 0, begun, done + random.normal(0, 0.02) - arrival[rank]))
            time = done
        for rank in range(RANKS):
            steps[rank].append((step, clocks[rank] + time - 52, clocks[rank] + time))
    made = zip(spans, steps, range(RANKS), strict=True)
    return [one(*each, noted) for each in made]


def one(spans, steps, rank: int, noted: bool):
    if not noted:
        return recording(spans, steps, rank=rank, world_size=RANKS)
    start = np.array([round(span[3] * 1e6) for span in spans])
    table = Table(
        sequence=np.arange(len(spans)), group=np.zeros(len(spans), int), operation=np.array(["all_reduce"] * len(spans), object),
        start=start, end=start + np.array([round(span[4] * 1e6) for span in spans]),
    )  # fmt: skip
    return recording([], steps, rank=rank, world_size=RANKS, tables={"collectives": table})


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_late_rank_is_named(seed, noted):
    report = analyse(trained(seed, late=seed % RANKS, noted=noted))
    found = report.stragglers
    assert found["rank"][found["straggler"]].tolist() == [seed % RANKS]
    assert found["lateness"][seed % RANKS] == pytest.approx(6, abs=3)
    advice = next(each for each in report.advice if each.rule == "straggler")
    assert f"rank {seed % RANKS}" in advice.title


@pytest.mark.parametrize("seed", range(20))
def test_nobody_is_named_in_a_clean_run(seed):
    report = analyse(trained(seed))
    assert not report.stragglers["straggler"].any()
    assert "straggler" not in [advice.rule for advice in report.advice]


def test_a_rank_that_ends_early_is_compared_as_far_as_it_goes():
    ranks = trained(1, late=3)
    short = ranks[5].spans
    for name in ("start", "duration", "name", "category", "lane", "correlation"):
        setattr(short, name, getattr(short, name)[:25])
    assert analyse(ranks).stragglers["straggler"].tolist() == [rank == 3 for rank in range(RANKS)]


def test_one_rank_or_no_collective_names_nobody():
    assert analyse(trained(1)[:1]).stragglers.rows == 0
    assert analyse([recording(rank=0), recording(rank=1)]).stragglers.rows == 0
