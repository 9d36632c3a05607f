"""Starts and ends become stretches of time, as a plain loop would pair them."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.parsers.ascend.framework import Framework, Task
from summarykit.profiler.parsers.ascend.hwts import Block
from summarykit.profiler.parsers.ascend.op_times import OpTimes
from summarykit.profiler.parsers.ascend.pairing import Pairing

events = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 50), st.sampled_from([0, 1, 70_000])), max_size=60)


def block(rows: list[tuple[int, int, int, int]]) -> Block:
    kind, task, time, stream = (np.array([row[place] for row in rows], np.int64) for place in range(4))
    zeros = np.zeros(len(rows), np.uint8)
    return Block(kind.astype("u1"), zeros, zeros, zeros.astype("u2"), task.astype("u2"), time, stream.astype("u4"))


def plainly(rows: list[tuple[int, int, int, int]]) -> tuple[list[tuple[int, int, int, int]], Counter[str]]:
    running: dict[tuple[int, int], int] = {}
    pairs, skipped = [], Counter[str]()
    for kind, task, time, stream in rows:
        if kind == 0:
            skipped["tasks started again before they ended"] += (stream, task) in running
            running[stream, task] = time
        elif kind == 1 and (stream, task) not in running:
            skipped["ends of tasks that never started"] += 1
        elif kind == 1:
            begin = running.pop((stream, task))
            if time < begin:
                skipped["tasks that ended before they started"] += 1
            else:
                pairs.append((begin, time - begin, stream, task))
    skipped["tasks that never ended"] += len(running)
    return sorted(pairs), +skipped


@given(events, st.lists(st.integers(0, 60), max_size=4))
def test_pairs_are_those_of_a_plain_loop_however_blocks_fall(rows, cuts):
    skipped: Counter[str] = Counter()
    pairing = Pairing(skipped)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    found = []
    for first, last in itertools.pairwise(edges):
        pairs = pairing.feed(block(rows[first:last]))
        found += zip(pairs.start.tolist(), pairs.duration.tolist(), pairs.stream.tolist(), pairs.task.tolist(), strict=True)
    pairing.close()
    assert (sorted(found), +skipped) == plainly(rows)


def test_upstream_counts_only_runs_under_the_number_it_saw_first():
    """The rule behind GatherV2's 42 ms: the sum of all runs over the runs of the first task."""
    framework = Framework([Task("Default/GatherV2-op55", 1, 30_000, 1), Task("Default/GatherV2-op55", 1, 30_001, 1)])
    times = OpTimes(framework)
    rows = [(0, 30_000, 0, 5), (1, 30_000, 100_000, 5), (0, 30_001, 200_000, 5), (1, 30_001, 500_000, 5)]
    for cut in range(0, 4, 2):
        times.feed(block(rows[cut : cut + 2]))
    assert times.order().tolist() == [0]
    assert (times.total[0], times.runs[0], times.counted[0], times.average[0]) == (4.0, 2, 1, 4.0)
    assert times.min_cycle == 0


@given(events)
def test_upstream_s_pairs_do_not_depend_on_blocks(rows):
    framework = Framework([Task(f"Default/Mul-op{task}", 1, task, stream) for task in range(3) for stream in (0, 1)])
    whole, split = OpTimes(framework), OpTimes(framework)
    whole.feed(block(rows))
    for row in rows:
        split.feed(block([row]))
    assert whole.order().tolist() == split.order().tolist()
    assert whole.average.tolist() == split.average.tolist()
    assert whole.min_cycle == split.min_cycle
