"""The tables of one recording, on recordings made by hand whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from testkit.recordings import DEVICE, HOST, recording

from summarykit.profiler.analysis import Profile, analyse
from summarykit.profiler.analysis.change_points import change_points
from summarykit.profiler.recording import Category, Lane, Table

MARKED = [
    ("data wait", Category.PHASE, 0, 0, 10),
    ("forward", Category.PHASE, 0, 10, 20),
    ("logging", Category.PHASE, 0, 12, 3),
    ("backward", Category.PHASE, 0, 32, 28),
    ("communication", Category.PHASE, 0, 50, 6),
    ("optimizer", Category.PHASE, 0, 60, 5),
]


def row(table: Table, place: int = 0) -> dict:
    return {name: column[place] for name, column in table.items()}


def test_marked_phases_count_each_moment_once():
    profile = Profile(recording(MARKED, [(7, 0, 70)]))
    assert row(profile.phases) == pytest.approx({
        "step": 7, "data wait": 10, "transfer": 0, "forward": 17, "backward": 22, "optimizer": 5, "communication": 6, "logging": 3,
        "other": 7, "total": 70,
    })  # fmt: skip
    assert row(profile.classic) == pytest.approx({"step": 7, "iteration_interval": 10, "fp_and_bp": 50, "tail": 10, "total": 70})


def test_the_recordings_own_points_of_forward_and_backward_are_taken():
    columns = {"step": [1, 2], "start": [0, 100], "end": [100, 200], "fp_start": [10, 130], "bp_end": [60, 180]}
    steps = Table({name: np.array(values) for name, values in columns.items()})
    found = Profile(recording(tables={"steps": steps})).classic
    assert (found["iteration_interval"] * 1e6).tolist() == [10, 30]
    assert (found["fp_and_bp"] * 1e6).tolist() == [50, 50]
    assert (found["tail"] * 1e6).tolist() == [40, 20]


def test_phases_of_torch_are_known_by_its_names():
    spans = [
        ("ProfilerStep#1", Category.STEP, 0, 0, 100),
        ("enumerate(DataLoader)#x.__next__", Category.DATA, 0, 0, 30),
        ("aten::stack", Category.HOST_OP, 0, 5, 10),
        ("cudaMemcpyAsync", Category.RUNTIME, 0, 30, 4),
        ("aten::conv2d", Category.HOST_OP, 0, 36, 14),
        ("autograd::engine::evaluate_function: A", Category.HOST_OP, 2, 52, 8),
        ("autograd::engine::evaluate_function: B", Category.HOST_OP, 2, 64, 8),
        ("nccl:all_reduce", Category.COMMUNICATION, 2, 66, 3),
        ("Optimizer.step#SGD.step", Category.USER, 0, 75, 10),
        ("Memcpy HtoD (Pageable -> Device)", Category.MEMCPY, 1, 31, 5),
    ]
    correlation = [-1, -1, -1, 9, -1, -1, -1, -1, -1, 9]
    profile = Profile(recording(spans, [(1, 0, 100)], lanes=(HOST, DEVICE, Lane(1, 2, "autograd")), correlation=correlation))
    assert row(profile.phases) == pytest.approx({
        "step": 1, "data wait": 30, "transfer": 4, "forward": 14, "backward": 17, "optimizer": 10, "communication": 3, "logging": 0,
        "other": 22, "total": 100,
    })  # fmt: skip
    assert row(profile.classic) == pytest.approx({"step": 1, "iteration_interval": 36, "fp_and_bp": 36, "tail": 28, "total": 100})


@pytest.mark.parametrize("marked", [True, False])
def test_a_closures_passes_are_no_update(marked):
    names = {"backward": "autograd::engine::evaluate_function: A", "forward": "aten::conv2d", "optimizer": "Optimizer.step#SGD.step"}
    spans = [("optimizer", 10, 80), ("forward", 15, 20), ("backward", 40, 30)]
    told = [
        (name, Category.PHASE, 0, start, length) if marked else (names[name], Category.HOST_OP, 0, start, length)
        for name, start, length in spans
    ]
    found = row(Profile(recording(told, [(1, 0, 100)])).phases)
    assert [found[name] for name in ("forward", "backward", "optimizer")] == pytest.approx([20, 30, 20])


def test_operators_of_the_loader_and_those_before_it_are_no_forward():
    spans = [
        ("aten::empty", Category.HOST_OP, 0, 1, 2),    # a loader without workers draws its seed
        ("enumerate(DataLoader)#x.__next__", Category.DATA, 0, 4, 40),
        ("aten::stack", Category.HOST_OP, 0, 5, 10),
        ("aten::conv2d", Category.HOST_OP, 0, 50, 10),
        ("autograd::engine::evaluate_function: A", Category.HOST_OP, 0, 60, 20),
        ("enumerate(DataLoader)#x.__next__", Category.DATA, 0, 84, 10),    # of the next micro-batch
        ("aten::conv2d", Category.HOST_OP, 0, 95, 5),
    ]
    found = Profile(recording(spans, [(1, 0, 100)])).classic
    assert row(found) == pytest.approx({"step": 1, "iteration_interval": 50, "fp_and_bp": 30, "tail": 20, "total": 100})


def test_a_stage_in_another_process_is_no_wait():
    lanes = (HOST, DEVICE, Lane(99, 1, "worker"))
    spans = [("s", Category.STEP, 0, 0, 10), ("map", Category.DATA, 2, 0, 9)]
    assert Profile(recording(spans, [(1, 0, 10)], lanes=lanes)).phases["data wait"].tolist() == [0]


def test_a_device_is_idle_for_reasons():
    spans = [
        ("k", Category.KERNEL, 1, 10, 10),
        ("k", Category.KERNEL, 1, 20.01, 9.99),
        ("k", Category.KERNEL, 1, 50, 10),
        ("k", Category.KERNEL, 1, 70, 10),
        ("ncclKernel", Category.COMMUNICATION, 2, 55, 10),
        ("cudaLaunchKernel", Category.RUNTIME, 0, 5, 1),
        ("cudaLaunchKernel", Category.RUNTIME, 0, 6, 1),
        ("cudaLaunchKernel", Category.RUNTIME, 0, 45, 1),
        ("cudaLaunchKernel", Category.RUNTIME, 0, 50, 1),
    ]
    found = recording(spans, [(1, 0, 100)], lanes=(HOST, DEVICE, Lane(0, 8, "", device=True)), correlation=[1, 2, 3, 4, -1, 1, 2, 3, 4])
    profile = Profile(found)
    assert row(profile.devices) == pytest.approx({
        "device": 0, "span": 100, "busy": 44.99, "idle": 55.01, "compute": 39.99, "communication": 10, "memory": 0, "overlap": 5,
        "utilization": 0.4499, "overlapped": 0.5,
    })  # fmt: skip
    causes = {cause: (count, time) for cause, count, time in zip(*(profile.idle[c] for c in ("cause", "count", "time")), strict=True)}
    assert causes == {"host": (1, 20), "launch": (1, pytest.approx(0.01)), "other": (1, 10)}
    assert row(profile.queue)["max"] == 2
    assert row(profile.split) == pytest.approx({
        "step": 1, "kernel": 39.99, "memcpy": 0, "memset": 0, "communication": 5, "runtime": 3, "data": 0, "host": 0, "other": 52.01,
        "total": 100,
    })  # fmt: skip


def test_operators_have_own_total_and_launched_time():
    spans = [
        ("outer", Category.HOST_OP, 0, 0, 10),
        ("inner", Category.HOST_OP, 0, 2, 4),
        ("outer", Category.HOST_OP, 0, 3, 1),
        ("cudaLaunchKernel", Category.RUNTIME, 0, 4.5, 0.5),
        ("kernel", Category.KERNEL, 1, 20, 7),
    ]
    table = Profile(recording(spans, correlation=[-1, -1, -1, 5, 5])).operators
    found = {(name, side): place for place, (name, side) in enumerate(zip(table["name"], table["side"], strict=True))}
    outer, inner, kernel = (found[key] for key in (("outer", "host"), ("inner", "host"), ("kernel", "device")))
    assert (table["count"][outer], table["total"][outer], table["self"][outer]) == (2, pytest.approx(10), pytest.approx(7))
    assert (table["total"][inner], table["self"][inner], table["device"][inner]) == (pytest.approx(4), pytest.approx(3), pytest.approx(7))
    assert table["device"][outer] == 0
    assert table["total"][kernel] == pytest.approx(7)


def test_long_first_steps_and_a_change_are_found():
    random = np.random.default_rng(3)
    lengths = np.concatenate([[900, 400], random.normal(100, 2, 40), random.normal(130, 2, 40)])
    ends = np.cumsum(lengths)
    profile = Profile(recording(steps=list(zip(range(10, 92), ends - lengths, ends, strict=True))))
    assert profile.step_times["first"] == 2
    assert profile.step_times["first_extra"] == pytest.approx(1300 - 2 * profile.step_times["median"], rel=1e-6)
    assert profile.changes["step"].tolist() == [52]
    assert profile.changes["before"][0] == pytest.approx(100, abs=2)
    assert profile.changes["after"][0] == pytest.approx(130, abs=2)


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_change(seed):
    random = np.random.default_rng(seed)
    steady = random.normal(100, 5, 300)
    steady[random.integers(0, 300, 5)] *= 4    # a few steps write a checkpoint
    assert change_points(steady) == []
    assert change_points(np.full(50, 7.0)) == []


def test_python_by_functions_and_by_samples():
    calls = [("train.py(3): main", 0, 10), ("train.py(9): load", 2, 6), ("sum", 3, 1)]
    table = Profile(recording([(name, Category.PYTHON, 0, start, length) for name, start, length in calls])).python
    assert list(zip(table["function"], table["file"], table["line"], table["self"], table["total"], strict=True)) == [
        ("load", "train.py", 9, 5, 6), ("main", "train.py", 3, 4, 10), ("sum", "", 0, 1, 1)
    ]  # fmt: skip
    samples = Table(time=np.arange(5), lane=np.zeros(5, int), stack=np.array([1, 1, 2, 0, 1]))
    stacks = Table(parent=np.array([-1, 0, 1]), frame=np.array(["main (a.py:1)", "Model.run (b.py:22)", "main (a.py:1)"], object))
    meta = {"collected": {"stacks": {"period_ns": 10_000_000}}}
    table = Profile(recording(tables={"samples": samples, "stacks": stacks}, meta=meta)).python
    rows = list(zip(table["function"], table["file"], table["line"], table["self"], table["total"], strict=True))
    assert rows == [("Model.run", "b.py", 22, 30, 40), ("main", "a.py", 1, 20, 50)]


def test_the_profilers_own_frames_are_no_python_of_the_program():
    frames = {
        "main (a.py:1)": -1,
        "Loop.steps (/lib/summarykit/training/loop.py:7)": 0,
        "following (/lib/summarykit/profiler/collectors/loader.py:9)": 1,
        "read (b.py:5)": 2,
        "Kineto.end (/lib/summarykit/profiler/collectors/kineto.py:8)": 0,
        "export (torch/profiler.py:3)": 4,
    }
    stacks = Table(parent=np.array(list(frames.values())), frame=np.array(list(frames), object))
    samples = Table(time=np.arange(4), lane=np.zeros(4, int), stack=np.array([3, 3, 2, 5]))
    table = Profile(recording(tables={"samples": samples, "stacks": stacks})).python
    found = list(zip(table["function"], table["self"], table["total"], strict=True))
    assert found == [("read", 20, 20), ("main", 0, 30)]


def test_a_built_in_method_is_told_without_its_address():
    calls = [
        ("<built-in method add_ of Tensor object at 0x7fe4aa74f010>", 0, 5),
        ("<built-in method add_ of Tensor object at 0x7fe4aa74f0d0>", 5, 5),
        ("<built-in function linear>", 10, 3),
    ]
    table = Profile(recording([(name, Category.PYTHON, 0, start, length) for name, start, length in calls])).python
    assert table["function"].tolist() == ["built-in method add_", "built-in function linear"]


def test_memory_has_a_peak_and_growth():
    steps = [(number, number * 10, number * 10 + 10) for number in range(1, 11)]
    time = np.array([number * 10_000_000 + 5 for number in range(1, 11)])
    sizes = {"bytes": np.full(10, 64.0), "allocated": np.full(10, np.nan), "reserved": np.zeros(10)}
    table = Table(time=time, device=np.zeros(10, int), address=np.zeros(10), **sizes)
    found = row(Profile(recording(steps=steps, tables={"memory": table})).memory)
    assert found["peak"] == 640
    assert found["peak_step"] == 10
    assert found["growth"] == 64
    assert found["allocations"] == 10


def test_counters_in_numbers():
    table = Table(time=np.array([3, 1, 2, 1]), counter=np.array(["q", "q", "q", "cpu"], object), value=np.array([0.0, 4.0, 2.0, 50.0]))
    found = Profile(recording(tables={"counters": table})).counters
    assert found["counter"].tolist() == ["cpu", "q"]
    assert row(found, 1) == pytest.approx(
        {"counter": "q", "samples": 3, "mean": 2, "min": 0, "median": 2, "p90": 4, "max": 4, "last": 0, "zero": 1 / 3}
    )


@pytest.mark.parametrize("wait", [0.0, 3.0, 10.0, 40.0])
def test_the_verdict_on_the_input(wait):
    spans = [("data wait", Category.PHASE, 0, step * 100, wait) for step in range(8)]
    found = Profile(recording(spans, [(step, step * 100, step * 100 + 100) for step in range(8)])).input
    verdict = {0.0: "not the bottleneck", 3.0: "not the bottleneck", 10.0: "noticeable", 40.0: "bottleneck"}[wait]
    assert found["verdict"] == verdict
    assert found["share"] == pytest.approx(wait / 100)


def test_pr14_an_empty_recording_gives_empty_tables():
    report = analyse(recording())
    profile = report.profiles[0]
    assert profile.step_times == {"count": 0}
    assert {name: profile.table(name).rows for name in Profile.TABLES} == dict.fromkeys(Profile.TABLES, 0)
    assert "no steps" in str(report)
    assert str(analyse([])) == "nothing was recorded\n"


def test_a_table_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="'nothing' is no table; allowed: steps, phases"):
        Profile(recording()).table("nothing")


def test_tables_become_pandas():
    frame = analyse(recording(MARKED, [(7, 0, 70)])).table("phases").to_pandas()
    assert frame["rank"].tolist() == [0]
    assert frame["forward"].tolist() == [17]
