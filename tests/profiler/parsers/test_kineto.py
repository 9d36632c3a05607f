"""Kineto's traces of all vintages: equal to what HTA and torch-tb-profiler say of them, and never an exception."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testkit.recordings import complete, trace

from summarykit.profiler.analysis import Profile, analyse
from summarykit.profiler.analysis.upstream import hta, tensorboard
from summarykit.profiler.parsers import kineto, read
from summarykit.profiler.recording import Category, Recording

HTA = ["hta_alexnet", "hta_amd_mi250", "hta_event_sync", "hta_ns_resolution", "hta_sampled2ranks", "hta_simple_add"]
HTA += ["tb_resnet50_nw0", "tb_resnet50_nw4"]
TIED = {"hta_ns_resolution", "hta_simple_add", "tb_resnet50_nw0", "tb_resnet50_nw4"}
"""Where a launch and a start of one stream have one time: the order in which HTA counts them hangs on NumPy's unstable sort."""

UNSIGNED = {"hta_alexnet", "hta_simple_add"}
"""Where HTA takes the synchronisation of a whole context for a kernel of stream 4294967295."""

TENSORBOARD = {
    "tb_resnet50_nw0": "tb_resnet50_nw0/worker0.1.json.gz",
    "tb_resnet50_nw4": "tb_resnet50_nw4/worker0.1.json.gz",
    "hta_ns_resolution": "hta_ns_resolution/rank-0.json.gz",
    "hta_alexnet": "hta_alexnet/alexnet_rank0.json.gz",
    "torch_cpu_lenet": "torch_cpu_lenet/lenet_cpu_plain.json.gz",
}


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data/profiler/kineto"


@pytest.fixture(scope="module", params=HTA)
def case(request, folder) -> tuple[str, list[Recording], dict]:
    reference = json.loads((folder / f"hta_reference/{request.param}.json").read_text())
    return request.param, read(folder / request.param), reference


@pytest.mark.shared
def test_busy_and_idle_times_are_those_of_hta(case):
    name, recordings, reference = case
    for recording, row in zip(recordings, reference["temporal_breakdown"], strict=True):
        found = {column: float(values[0]) for column, values in hta.temporal_breakdown(recording).items()}
        expected = {column.removesuffix("(us)"): value for column, value in row.items() if column.endswith("(us)")}
        assert found["compute_time"] == expected["compute_time"]
        assert name in UNSIGNED or found == expected


@pytest.mark.shared
def test_kernel_types_and_overlap_are_those_of_hta(case):
    _, recordings, reference = case
    expected = {row["kernel_type"]: row["sum"] for row in reference["kernel_breakdown"]["types"] if row["sum"]}
    assert hta.kernel_types(recordings) == expected
    for recording, row in zip(recordings, reference["comm_comp_overlap"], strict=True):
        percent = row["comp_comm_overlap_pctg"]
        assert round(100 * hta.overlap(recording), 2) == pytest.approx(np.nan if percent is None else percent, nan_ok=True)


@pytest.mark.shared
def test_causes_of_idle_time_are_those_of_hta(case):
    _, recordings, reference = case
    found = {
        (recording.rank, stream, cause): time
        for recording in recordings
        for stream, cause, time in zip(*(column.tolist() for column in hta.idle_time(recording).values()), strict=True)
    }
    assert found == {(row["rank"], row["stream"], row["idle_category"]): row["idle_time"] for row in reference["idle_time"]}


@pytest.mark.shared
def test_queue_lengths_are_those_of_hta(case):
    name, recordings, reference = case
    tables = [hta.queue_length(recording) for recording in recordings]
    found = [[float(table[column][row]) for column in list(table)[1:]] for table in tables for row in range(table.rows)]
    expected = [list(row.values()) for row in reference["queue_length_summary"]]
    assert found == [pytest.approx(row, rel=1e-3 if name in TIED else 1e-9, abs=0.02 if name in TIED else 1e-9) for row in expected]


@pytest.mark.shared
@pytest.mark.parametrize("name", TENSORBOARD)
def test_the_split_of_a_step_is_that_of_torch_tb_profiler(folder, name):
    reference = json.loads((folder / "hta_reference/torch_tb_profiler_0.4.3_overall.json").read_text())[name]
    recording = read(folder / TENSORBOARD[name])[0]
    found = tensorboard.overall(recording)
    assert [str(step) for step in found["step"]] == [row["step"] for row in reference["steps"]]
    for role, average in reference["avg_us"].items():
        assert round(float(found[role].mean()), 1) == pytest.approx(average, abs=0.11), role
        assert found[role].tolist() == pytest.approx([row["costs"][role] for row in reference["steps"]], abs=0.06), role
    gpu = tensorboard.gpu_metrics(recording)
    for column, key in (("utilization", "gpu_util"), ("sm_efficiency", "sm_eff"), ("occupancy", "occupancy")):
        assert gpu[column].tolist() == pytest.approx(reference[key], rel=1e-9)


@pytest.mark.shared
def test_operators_are_torchs_key_averages(folder):
    table = Profile(read(folder / "torch_cpu_lenet/lenet_cpu_rank0.json.gz")[0]).operators
    rows = zip(table["name"], table["count"], table["self"] * 1000, table["total"] * 1000, strict=True)
    found = {name: (count, own, total) for name, count, own, total in rows}
    reference = json.loads((folder / "torch_cpu_lenet/key_averages_top25.json").read_text())
    compared = [row for row in reference if row["key"].startswith("aten::")]
    assert len(compared) > 10
    for row in compared:
        assert found[row["key"]] == (row["count"], pytest.approx(row["self_cpu_us"]), pytest.approx(row["cpu_total_us"])), row["key"]


@pytest.mark.shared
def test_the_slow_loader_is_advised_on_and_the_fast_one_is_not(folder):
    slow, fast = ({each.rule: each for each in analyse(folder / name).advice} for name in ("tb_resnet50_nw0", "tb_resnet50_nw4"))
    assert slow["data_wait"].gain == pytest.approx(0.334, abs=0.02)    # torch-tb-profiler says 33.4 %
    assert "data_wait" not in fast


@pytest.mark.shared
def test_pr14_a_trace_without_device_steps_or_collectives_gives_a_report(folder):
    for path in (*folder.glob("*/*.json.gz"), *folder.glob("gpu_metrics_input.json.gz")):
        report = analyse(path)
        assert report.recordings, path
        assert str(report)
        assert json.loads(report.to_json())["ranks"]
        assert "</html>" in report.to_html()
    assert analyse(folder / "hta_cpu_only").profiles[0].devices.rows == 0


@pytest.mark.shared
def test_two_ranks_are_read_from_their_directory(folder):
    found = read(folder / "hta_sampled2ranks")
    assert [(recording.rank, recording.world_size) for recording in found] == [(0, 128), (1, 128)]


@pytest.mark.parametrize(
    ("word", "name", "category"),
    [
        ("Operator", "aten::add", Category.HOST_OP),
        ("cpu_op", "aten::add", Category.HOST_OP),
        ("Operator", "ProfilerStep#7", Category.STEP),
        ("user_annotation", "ProfilerStep#7", Category.STEP),
        ("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", Category.DATA),
        ("user_annotation", "nccl:all_reduce", Category.COMMUNICATION),
        ("user_annotation", "my block", Category.USER),
        ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Category.COMMUNICATION),
        ("kernel", "volta_sgemm_64x64_nt", Category.KERNEL),
        ("cuda_driver", "cuLaunchKernel", Category.RUNTIME),
        ("hip_runtime", "hipLaunchKernel", Category.RUNTIME),
        ("python_function", "train.py(12): step", Category.PYTHON),
        ("something new", "x", Category.OTHER),
    ],
)
def test_words_of_all_vintages_mean_the_same(word, name, category):
    assert kineto.classify(word, name).category == category


def test_times_are_kept_to_the_nanosecond(tmp_path):
    events = [complete("a", 1712195495519689, 63.813), complete("b", 5123969714191.465, 13330.445)]
    spans = kineto.parse(trace(tmp_path / "t.json", events))[0].spans
    assert spans.duration.tolist() == [63813, 13330445]
    assert spans.start.tolist() == [1712195495519689000, 5123969714191465]


def test_begun_and_ended_apart_and_counters_and_lanes(tmp_path):
    events = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "loader"}},
        {"ph": "B", "name": "outer", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 1},
        {"ph": "B", "name": "inner", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 2},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 5},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 9},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 10},
        {"ph": "B", "name": "open", "pid": 1, "tid": 2, "ts": 11},
        {"ph": "C", "name": "memory", "pid": 1, "ts": 3, "args": {"used": 7, "word": "no"}},
        complete("kernel", 4, 2, "kernel", pid=0, tid="stream 7", args={"stream": 7, "correlation": 3}),
        complete("numbered by text", 4, 2, tid="25738"),
    ]
    found = kineto.parse(trace(tmp_path / "t.json", events))[0]
    spans = found.spans
    by_name = {spans.names[name]: (start, length) for name, start, length in zip(spans.name, spans.start, spans.duration, strict=True)}
    assert by_name["inner"] == (2000, 3000)
    assert by_name["outer"] == (1000, 8000)
    assert found.skipped == {"begun and not ended": 1}
    assert found.tables["counters"]["value"].tolist() == [7.0]
    assert {(lane.process, lane.thread, lane.title, lane.device) for lane in spans.lanes} == {
        (1, 2, "loader", False), (0, 7, "stream 7", True), (1, 25738, "python", False)
    }  # fmt: skip


def test_events_that_cannot_be_placed_are_counted(tmp_path):
    bad = [{"ph": "X"}, complete("a", "soon", 1), complete("b", 1, None), complete("c", 1e300, 1), complete("d", 1, 1, tid=[1])]
    bad += [complete("g", [], 1)]
    odd = [complete("e", 1, 1, args="text"), complete("f", 2, -1, args={"correlation": 10**30}), {"ph": "X", "ts": 3, "dur": 1, "name": 5}]
    found = kineto.parse(trace(tmp_path / "t.json", [*bad, *odd, complete("fine", 9, 9)]))[0]
    assert len(found.spans) == 4
    assert found.skipped == {"spans without a usable time or thread": 6}
    assert (found.spans.duration >= 0).all()


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
WORDS = st.sampled_from(["cpu_op", "kernel", "cuda_runtime", "user_annotation", "python_function", "gpu_memcpy", "x"])
TITLES = st.sampled_from(["ProfilerStep#1", "ProfilerStep#2", "aten::add", "[memory]", "nccl:all_reduce", "enumerate(DataLoader)#x"])
KEYS = st.sampled_from(["correlation", "stream", "device", "Bytes", "name", "Seq"])
FIELDS = {
    "ph": st.sampled_from(["X", "X", "X", "i", "M", "C", "B", "E", "s", "?"]),
    "name": TITLES | VALUES,
    "cat": WORDS | VALUES,
    "pid": st.integers(0, 2) | VALUES,
    "tid": st.integers(0, 3) | VALUES,
    "ts": st.integers(0, 50) | st.floats(0, 50) | VALUES,
    "dur": st.integers(0, 20) | VALUES,
    "args": st.dictionaries(KEYS, st.integers(0, 5) | VALUES) | VALUES,
}


@given(st.lists(st.fixed_dictionaries({}, optional=FIELDS), max_size=25), VALUES)
@settings(max_examples=60)
def test_nothing_in_a_trace_makes_the_report_raise(tmp_path_factory, events, about):
    path = tmp_path_factory.mktemp("kineto") / "t.json"
    trace(path, events, distributedInfo=about, baseTimeNanoseconds=about, deviceProperties=about)
    report = analyse(kineto.parse(path))
    assert str(report)
    assert json.loads(report.to_json())["ranks"]
    assert "</html>" in report.to_html()


@given(st.data())
@settings(max_examples=25)
def test_a_damaged_file_never_raises(tmp_path_factory, data):
    events = [complete(f"aten::op{place % 3}", place * 10, 9, args={"correlation": place}) for place in range(30)]
    path = trace(tmp_path_factory.mktemp("kineto") / "t.json", events)
    content = bytearray(gzip.compress(path.read_bytes()) if data.draw(st.booleans()) else path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=6)):
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    str(analyse(kineto.parse(path)))
    kineto.sniff(path)


def test_it_knows_its_own_traces(tmp_path):
    assert kineto.sniff(trace(tmp_path / "t.json", [complete("a", 1, 1)]))
    assert not kineto.sniff(tmp_path)
    assert not kineto.sniff(tmp_path / "absent")
    (tmp_path / "text").write_text("deviceProperties")
    assert not kineto.sniff(tmp_path / "text")
