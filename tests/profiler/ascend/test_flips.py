"""Task numbers that begin anew after 16 bits."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from testkit import ascend_files as raw

from summarykit.profiler.parsers import ascend
from summarykit.profiler.parsers.ascend.flips import flips, widened
from summarykit.profiler.parsers.ascend.hwts import Block


def block(stream, task) -> Block:
    zeros = np.zeros(len(stream), np.uint8)
    return Block(zeros, zeros, zeros, zeros, np.array(task, np.uint16), zeros.astype(np.int64), np.array(stream, np.uint32))


def test_numbers_that_go_down_are_counted_for_each_stream():
    stream = np.array([1, 2, 1, 1, 2, 1])
    task = np.array([5, 9, 6, 2, 10, 1], np.uint16)
    assert flips(stream, task).tolist() == [0, 0, 0, 1, 0, 2]
    assert flips(stream[:0], task[:0]).tolist() == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30_000)), max_size=60), st.lists(st.integers(0, 60), max_size=4))
def test_numbers_are_those_that_the_framework_counts_however_blocks_fall(steps, cuts):
    """Each stream runs on by fewer than 65,536 numbers at a time: then nothing is ambiguous."""
    count: dict[int, int] = {}
    stream, truth = [], []
    for number, advance in steps:
        stream.append(number)
        truth.append(count.setdefault(number, 0))
        count[number] += advance
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    blocks = [block(stream[first:last], [task % 65_536 for task in truth[first:last]]) for first, last in itertools.pairwise(edges)]
    assert [task for wide in widened(iter(blocks)) for task in wide.task.tolist()] == truth


def test_a_job_with_changing_shapes(tmp_path):
    tasks = b"".join(raw.task_desc(raw.mixed(f"Default/Mul-op{task}", 128), raw.mixed("Mul", 64), 3, task) for task in (65_530, 65_541))
    (tmp_path / "Framework.task_desc_info.0.slice_0").write_bytes(tasks)
    events = [(0, 65_530, 10, 3), (1, 65_530, 20, 3), (0, 5, 30, 3), (1, 5, 50, 3), (0, 6, 60, 3), (1, 6, 61, 3)]
    (tmp_path / raw.HWTS.format(0, 0)).write_bytes(raw.hwts(events))
    (recording,) = ascend.parse(tmp_path)
    spans = recording.spans
    assert [spans.names[name] for name in spans.name] == ["Default/Mul-op65530", "Default/Mul-op65541", "3_65542"]
    assert recording.tables["operators"]["count"].tolist() == [1, 1]
