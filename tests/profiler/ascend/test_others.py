"""AI CPU, queues, clock, AI Core, memory, communication, msprof."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import numpy as np
import pytest
from testkit import ascend_files as raw

from summarykit.formats import wire
from summarykit.profiler.parsers import ascend, read
from summarykit.profiler.parsers.ascend import aicore, aicpu, hccl, host_start, memory, msprof
from summarykit.profiler.parsers.ascend.events import events, nanoseconds
from summarykit.profiler.parsers.ascend.framework import Framework, Task
from summarykit.profiler.recording import Category

THREAD = "Thread[ 1] process device[0]:aicpu[ 0] task end, tickAfterRun=3, dispatchTime={} us, totalTime={} us."
NODE = "[1] Node:{}, Run {}:{}, Run end:{}"


def rows(table):
    return [tuple(row) for row in zip(*(column.tolist() for column in table.values()), strict=True)]


def ai_cpu(tmp_path, content, framework=None):
    path = tmp_path / "DATA_PREPROCESS.dev.AICPU.0.slice_0"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    skipped: Counter[str] = Counter()
    return rows(aicpu.read([path], framework or Framework(), skipped)), +skipped


def test_ai_cpu_text_of_three_generations(tmp_path):
    six = "[2] Node:Default/x/TruncatedNormal-op0, Run tart:40, compute start:1, memcpy start:2, memcpy end:3,Run end:50"
    newer = NODE.format("InitData", "start", "60 6000", "70 7000")
    parts = [NODE.format("GetNext", "tart", 10, 30), THREAD.format(87, 989), six, THREAD.format(1, 2), newer, THREAD.format(3, 4)]
    found, skipped = ai_cpu(tmp_path, "\n\0".join(parts))
    assert found == [("GetNext", 10, 30, 0.989, 0.087), ("TruncatedNormal", 40, 50, 0.002, 0.001), ("InitData", 60, 70, 0.004, 0.003)]
    assert not skipped


def test_ai_cpu_text_without_partners_is_counted(tmp_path):
    node = NODE.format("GetNext", "tart", 10, 30)
    found, skipped = ai_cpu(tmp_path, "\0".join([THREAD.format(1, 2), node, node, THREAD.format(1, 2), "noise", node]))
    assert len(found) == 1
    assert skipped == {"AI CPU records without their partner": 4}


def test_ai_cpu_binary(tmp_path):
    framework = Framework([Task("Default/x/GetNext-op7", 1, 9, 2)], unique_from=1 << 40)
    content = raw.ai_cpu(2, 9, 123_400, 567_800, 87, 989) + raw.ai_cpu(2, 10, 1, 2, 3, 4) + raw.ai_cpu(2, 26_000, 1, 2, 3, 4)
    found, skipped = ai_cpu(tmp_path, content, framework)
    assert found == [("GetNext-op7", 1234, 5678, 0.989, 0.087)]
    assert skipped == {"AI CPU tasks that the framework does not name": 1}


def test_queues_of_device_and_host(tmp_path):
    (tmp_path / "DATA_PREPROCESS.dev.AICPUMI.0.slice_0").write_text(
        "Node:GetNext_dequeue_wait, Run start:5, Run end:9, queue size:3\0junk\0"
    )
    (tmp_path / "DATA_PREPROCESS.dev.TDT.0.slice_0").write_text("[7] Enqueue data to dp, source:a-b, index:1, size:0\0[x]\0")
    (recording,) = ascend.parse(tmp_path)
    assert rows(recording.tables["device_queue"]) == [("GetNext_dequeue_wait", 5, 9, 3)]
    assert rows(recording.tables["queue_pushes"]) == [(7, 1, 0, "a-b")]
    assert recording.skipped == {"AICPUMI records that cannot be read": 1, "TDT records that cannot be read": 1}


def test_the_wall_clock_of_the_device(tmp_path):
    path = tmp_path / "host_start.log.0"
    path.write_text("[Device0]\nclock_realtime: 1591183963784568740\nclock_monotonic_raw: 261003032627\n")
    assert host_start.clock_offset([path], Counter()) == 1591183963784568740 - 261003032627
    path.write_text("[Device0]\nclock_realtime: 1\n")
    assert host_start.clock_offset([path], Counter()) is None


def test_floating_point_operations(tmp_path):
    """The weights are those of MindSpore's reader; no capture is public."""
    path = tmp_path / "aicore.data.0.slice_0"
    path.write_bytes(
        raw.ai_core(3, 17, [1, 2, 3, 4, 5, 6, 7, 99]) + raw.ai_core(3, 17, [3, 2, 3, 4, 5, 6, 7, 0]) + raw.ai_core(9, 9, [1] * 8)
    )
    skipped: Counter[str] = Counter()
    found = aicore.read([path], Framework([Task("Default/Mul-op1", 1, 17, 3)], unique_from=1 << 40), skipped)
    vector = 3 * 32 + 4 * 128 + 5 * 64 + 6 * 64 + 7 * 32
    assert rows(found) == [("Default/Mul-op1", 2, 2 * 8192 + 2 * 16384, vector)]
    assert skipped == {"AI Core tasks that the framework does not name": 1}
    assert aicore.peak_flops(1000, 32) == 32e9 * 8192


def message(*fields: tuple[int, object]) -> bytes:
    return b"".join(
        wire.integer(number, value)
        if isinstance(value, int)
        else wire.text(number, value)
        if isinstance(value, str)
        else wire.data(number, value)
        for number, value in fields
    )


def test_memory_while_each_node_runs(tmp_path):
    tensors = [(1, 100, 0, 1, 0), (2, 10, 1, 2, 0), (3, 1, 0, 0, 1), (4, 1000, 2, 2, 2), (5, 7, 1, 1, 3)]
    graph = message(
        (1, 8),
        (2, 50),
        *((3, message((1, f"node{number}"), (2, number))) for number in range(3)),
        *((4, message((1, name), (2, size), (3, "x"), (4, start), (5, end), (6, life))) for name, size, start, end, life in tensors),
        (5, "fp"),
        (6, "bp"),
    )
    path = tmp_path / "memory_usage_0.pb"
    path.write_bytes(message((1, graph), (2, 1 << 30)))
    (found,), total = memory.read([path], Counter())
    assert (total, found.graph, found.static, found.fp_start, found.bp_end) == (1 << 30, 8, 50, "fp", "bp")
    assert found.nodes["name"].tolist() == ["node0", "node1", "node2"]
    # of all the graph; from its start to the tensor's end; from the tensor's start to its end
    assert found.used().tolist() == [50 + 100 + 1 + 1000, 50 + 100 + 10 + 1 + 1000 + 7, 50 + 10 + 1 + 1000 + 7]
    path.write_bytes(path.read_bytes()[:-20])
    skipped: Counter[str] = Counter()
    memory.read([path], skipped)
    assert skipped["messages of memory_usage that cannot be read"] == 1


def event(task, source, target, kind, size="0x0", duration=10.0, thread=1, start=0.0):
    arguments = {"task type": task, "src rank": source, "dst rank": target, "transport type": kind, "size": size}
    return {"ph": "X", "tid": thread, "ts": start, "dur": duration, "args": arguments}


def test_what_went_over_each_link():
    none = hccl.NO_RANK
    told = [
        event("Memcpy", 0, 1, "SDMA", "0x3e8", 500.0),
        event("Reduce Inline", 0, 1, "SDMA", 1000, 500.0),
        event("Notify Record", 0, 1, "SDMA"),
        event("Memcpy", 0, none, "SDMA", "0x7d0", 1000.0),
        event("RDMASend", 0, 8, "RDMA", "0x3e8", 1.0),
        event("RDMASend", 0, 8, "RDMA", "0x3e8", 2.0),
        event("Notify Wait", 8, 0, "LOCAL", "0x0", 997.0),
        event("RDMASend", 0, 8, "RDMA"),
        {"ph": "M"},
    ]
    assert hccl.link_info(told, Counter()) == {
        "0-1": {"SDMA": [1.0, 2.0, 2000.0]},
        "0-0": {"SDMA": [1.0, 2.0, 2000.0]},
        "0-8": {"RDMA": [1.0, 2.0, 2000.0, 0.997]},
    }
    assert rows(hccl.links(told, Counter())) == [
        (0, 1, "SDMA", 1.0, 0.0, 2.0),
        (0, 0, "SDMA", 1.0, 0.0, 2.0),
        (0, 8, "RDMA", 1.0, 0.997, 2.0),
    ]


def test_rounds_of_communication_by_the_main_stream(tmp_path):
    folder = tmp_path / "hccl_info_0/allReduce_0_1_2"
    folder.mkdir(parents=True)
    told = [
        event("Memcpy", 0, 1, "SDMA", 1000, 500.0, 1, 7.0),
        event("Memcpy", 0, 1, "SDMA", 1000, 250.0, 3),
        event("Notify Wait", 0, 1, "LOCAL", 0, 40.0, 3),
    ]
    (folder / "round_0.json").write_text(json.dumps({"traceEvents": told}))
    (folder / "round_1.json").write_text("{")
    (tmp_path / raw.HWTS.format(0, 0)).touch()
    (recording,) = ascend.parse(tmp_path)
    found = recording.tables["communication"]
    assert rows(found) == [("allReduce_0_1_2", 7000, 0.25, 0.04, {"0-1": {"SDMA": [0.75, 2.0, 2.0 / 0.00075]}})]
    assert recording.skipped == {"round_1.json is no trace": 1}


@pytest.mark.parametrize(
    ("content", "count", "bad"),
    [
        ('[{"a": 1}, {"a": 2}]', 2, 0),
        ('[{"a": 1}, {"a": 2', 1, 1),
        ("", 0, 0),
        ("[]", 0, 0),
        ('[{"a": NaN},]', 1, 0),
        ("[1, {}]", 1, 1),
        ("nonsense", 0, 1),
    ],
)
def test_events_of_a_plain_array_however_it_ends(tmp_path, content, count, bad):
    (tmp_path / "x.json").write_text(content)
    skipped: Counter[str] = Counter()
    assert len(list(events(tmp_path / "x.json", skipped))) == count
    assert sum(skipped.values()) == bad


def test_times_in_microseconds():
    assert [nanoseconds(value) for value in (1.5, "2.001", None, "x", float("nan"), 1e300)] == [1500, 2001, None, None, None, None]


@pytest.mark.shared
def test_msprof_of_two_devices(shared):
    found = read(shared / "data/profiler/ascend/raw/msprof")
    assert [(recording.rank, recording.tables["steps"].rows) for recording in found] == [(0, 10), (1, 10)]
    steps = found[0].tables["steps"]
    assert steps["bp_end"][0] - steps["fp_start"][0] == 4_236_100  # µs 4,236.10 in the file
    assert (steps["fp_start"] - steps["start"])[:3].tolist() == [0, 32_134_950, 23_308_110]
    assert steps["start"][1:].tolist() == steps["end"][:-1].tolist()  # a step waits for its data from the end of the one before
    assert found[0].meta == {"device": 0, "aic_frequency": 1000.0, "ai_core_num": 32.0}
    spans = found[0].spans
    assert {Category(number) for number in np.unique(spans.category)} == {
        Category.STEP,
        Category.RUNTIME,
        Category.KERNEL,
        Category.MEMCPY,
        Category.COMMUNICATION,
        Category.OTHER,
    }
    assert spans.names[spans.name[np.argmax(spans.duration)]] == "GE@Infer"
    assert not found[0].skipped


@pytest.mark.shared
def test_msprof_without_its_merged_file_tells_the_same_tasks(shared, tmp_path):
    source = shared / "data/profiler/ascend/raw/msprof/PROF_000001_20230818142704322_COJGGGCANRMICFBC/device_0"
    whole = msprof.parse(source)[0].spans
    timeline = tmp_path / "device_0/timeline"
    timeline.mkdir(parents=True)
    for path in (source / "timeline").iterdir():
        if not path.name.startswith("msprof"):
            (timeline / path.name).write_bytes(path.read_bytes())
    parts = msprof.parse(tmp_path)[0].spans
    kernels = [sorted(spans.start[spans.category == Category.KERNEL].tolist()) for spans in (whole, parts)]
    assert kernels[0] == kernels[1]
    assert len(kernels[0]) == 417  # 137 + 2 operators in each of three iterations


def test_msprof_with_damaged_files(tmp_path):
    timeline = tmp_path / "PROF_1/device_0/timeline"
    timeline.mkdir(parents=True)
    (timeline / "step_trace_0_1_1.json.gz").write_bytes(
        gzip.compress(b'[{"name": "Iteration 1", "cat": "Iteration Time", "ts": 1, "dur": 2, "args": 3}, {')
    )
    (timeline / "msprof_0_1_1.json").write_text(
        '[{"ph": "X", "pid": 1, "ts": "x"}, {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "CANN"}},'
        '{"ph": "X", "pid": 1, "ts": "x", "name": "a"}, {"ph": "X", "pid": 1, "ts": 1, "dur": 2, "name": "b"}]'
    )
    (timeline.parent / "info.json.0").write_text("[]")
    (recording,) = read(tmp_path)
    assert len(recording.spans) == 1
    assert recording.skipped == {
        "step_trace_0_1_1.json.gz is damaged or cut": 1,
        "events without a time": 1,
        "info.json.0 is no JSON object": 1,
    }
