"""Traces beside our records: on one clock, whatever clock they have."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from summarykit import Profiler
from summarykit.profiler.merging import clock_shift, merged, recorded
from summarykit.profiler.recording import Category, Lane, Recording, Spans, Table


def recording(source: str, path: str, starts: list[int], offset: int | None, **tables: Table) -> Recording:
    count = len(starts)
    start, zero = np.array(starts, np.int64), np.zeros(count, np.int64)
    spans = Spans(start, zero + 5, zero.astype(np.int32), zero.astype(np.uint8), zero.astype(np.int32), zero - 1, [source], [Lane(1, 1)])
    return Recording(source, Path(path), spans, dict(tables), clock_offset=offset)


def steps(ends: list[int], first: int = 1) -> Table:
    end = np.array(ends, np.int64)
    return Table(step=np.arange(first, first + len(ends)), start=end - 10, end=end, fp_start=np.full(len(ends), -1), bp_end=end - 1)


def ours(**options: object) -> Recording:
    found = recording("summarykit", "/w/rank_0.profile", [100, 200], 1_000_000, steps=steps([110, 210]))
    found.meta = {"started": {"wall": 1_000_050, "perf": 50}, "ended": {"wall": 1_000_900, "perf": 900}, **options}
    return found


def test_clocks_that_are_known():
    (found,) = merged([recording("kineto", "/w/rank_0.kineto.json", [7], 1_000_100), ours()])
    assert found.spans.start.tolist() == [100, 200, 107]
    assert [found.spans.names[number] for number in found.spans.name] == ["summarykit", "summarykit", "kineto"]
    assert found.spans.lane.tolist() == [0, 0, 1]


def test_what_was_read_stays_as_it_was():
    records, trace = ours(), recording("kineto", "/w/rank_0.kineto.json", [7], 1_000_100, extra=steps([9]))
    trace.skipped["garbled events"] = 2
    for _ in range(2):
        (found,) = merged([records, trace])
        assert len(found.spans) == 3
        assert found.skipped == {"kineto: garbled events": 2}
    assert len(records.spans) == 2
    assert set(records.tables) == {"steps"}
    assert set(records.meta) == {"started", "ended"}
    assert not records.skipped


def test_clocks_that_meet_at_the_ends_of_steps():
    other = recording("jax", "/w/rank_0.jax/plugins/vm.trace.json.gz", [0, 7], None, steps=steps([20, 120], first=1))
    (found,) = merged([ours(), other])
    assert found.spans.start.tolist() == [100, 200, 90, 97]
    assert found.tables["steps"]["end"].tolist() == [110, 210]


def test_a_clock_that_is_the_wall_clock():
    assert clock_shift(ours(), recording("mindspore", "/w/rank_0.mindspore", [1_000_100], None)) == -1_000_000


def test_what_cannot_be_told_stays_apart():
    other = recording("chrome", "/w/rank_0.other.json", [5], None)
    assert merged([ours(), other])[1] is other
    elsewhere = recording("kineto", "/v/rank_0.kineto.json", [5], 1)
    another_rank = recording("kineto", "/w/rank_1.kineto.json", [5], 1)
    assert len(merged([ours(), elsewhere, another_rank])) == 3
    assert merged([]) == []


def test_tables_are_moved_too():
    memory = Table(time=np.array([7]), bytes=np.array([1]))
    kernels = Table(span=np.array([0]), occupancy=np.array([0.5]))
    theirs = steps([50])
    (found,) = merged([recording("kineto", "/w/rank_0.kineto.json", [7], 1_000_100, memory=memory, kernels=kernels, more=theirs), ours()])
    assert found.tables["memory"]["time"].tolist() == [107]
    assert found.tables["kernels"]["span"].tolist() == [2]
    assert found.tables["more"]["end"].tolist() == [150]
    assert found.tables["more"]["fp_start"].tolist() == [-1]


JAX = """
import sys, jax, jax.numpy as jnp
from summarykit import Profiler
step = jax.jit(lambda x: (x @ x).sum())
x = jnp.ones((64, 64))
with Profiler(sys.argv[1]) as profiler:
    for _ in range(4):
        step(x).block_until_ready()
        profiler.step()
"""


def test_jax_lies_beside_and_becomes_part_of_the_recording(run_script, tmp_path):
    pytest.importorskip("jax")
    run_script(JAX, tmp_path).expect_success()
    (found,) = recorded(tmp_path / "window_0001/rank_0.profile")
    assert found.meta["collected"]["jax"]["trace"] == "rank_0.jax"
    assert found.tables["steps"]["step"].tolist() == [1, 2, 3, 4]
    jax = ~found.spans.of(Category.PYTHON, Category.GC)
    steps, start = found.tables["steps"], found.spans.start
    inside = (start >= steps["start"][0] - 10**9) & (start <= steps["end"][-1] + 10**9)
    assert jax.sum() > 10
    assert inside[found.spans.of(Category.STEP)].all()


MINDSPORE = """
import os, sys
import numpy as np
import mindspore as ms
from summarykit import Profiler
ms.set_context(mode=ms.PYNATIVE_MODE)
net = ms.nn.Dense(4, 2)
profiler = Profiler(sys.argv[1], collectors=["mindspore", "system"])
for _ in range(3):
    net(ms.Tensor(np.ones((2, 4), np.float32)))
    profiler.step()
print(len(profiler.analyse().profiles), flush=True)
os._exit(0)    # MindSpore's own end, in which it was once seen to crash, is no part of this
"""


@pytest.mark.viewers
def test_mindspore_lies_beside_and_becomes_part_of_the_recording(run_script, mindspore_python, tmp_path):
    done = run_script(MINDSPORE, tmp_path, python=mindspore_python, env={"PYTHONFAULTHANDLER": "1"}).expect_success()
    assert done.stdout.split()[-1] == "1"
    (found,) = recorded(tmp_path / "window_0001/rank_0.profile")
    assert "MatMul" in found.spans.names
    assert found.tables["operators"].rows


def test_the_merged_recording_of_a_finished_run_is_one_profile(tmp_path):
    with Profiler(tmp_path, collectors=[]) as profiler:
        profiler.step()
    assert len(Profiler.offline(tmp_path).profiles) == 1
    assert "torch" not in sys.modules or profiler.analyse().profiles
