"""Files for MindInsight from recordings of any source."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.intermediate import MINDINSIGHT_0_5, render, write_intermediate
from summarykit.profiler.parsers import mindspore, read
from summarykit.profiler.queries import Queries
from summarykit.profiler.recording import Category, Lane, Recording, Spans, Table


def spans(rows, names, lanes) -> Spans:
    """Of ``(start, duration, name, category, lane, correlation)``."""
    start, duration, name, category, lane, correlation = (np.array([row[place] for row in rows], np.int64) for place in range(6))
    return Spans(start, duration, name.astype("i4"), category.astype("u1"), lane.astype("i4"), correlation, names, lanes)


def accelerator() -> Recording:
    rows = [
        (0, 10_000, 0, Category.HOST_OP, 0, -1),
        (2_000, 1_000, 1, Category.RUNTIME, 0, 5),
        (20_000, 4_000, 2, Category.KERNEL, 1, 5),
        (30_000, 2_000, 2, Category.KERNEL, 1, 6),
    ]
    return Recording(
        "kineto", Path("x"), spans(rows, ["aten::mul", "cudaLaunchKernel", "kernel<float>"], [Lane(1, 1), Lane(0, 7, "stream 7", True)])
    )


def lines(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_an_accelerator_that_is_no_ascend():
    files = render(accelerator())
    assert lines(files["gpu_op_detail_info_0.csv"])[1] == ["Host", "mul", "aten::mul", "aten::mul", "1", "10.0", "10.0", "1.0", "4.0", "1"]
    assert lines(files["gpu_op_type_info_0.csv"])[1] == ["mul", "1", "10.0", "1.0", "10.0"]
    assert lines(files["gpu_activity_data_0.csv"])[1] == ["kernel<float>", "kernel", "", "7", "", "", "2", "6.0", "3.0", "4.0", "2.0"]
    shown = json.loads(files["gpu_timeline_display_0.json"])
    assert [(event["name"], event["ts"], event["dur"], event["tid"]) for event in shown] == [
        ("aten::mul", 0.0, 10.0, 1),
        ("kernel<float>", 20.0, 4.0, 7),
        ("kernel<float>", 30.0, 2.0, 7),
    ]
    assert json.loads(files["gpu_timeline_summary_0.json"]) == {
        "total_time": 16.0,
        "num_of_streams": 2,
        "num_of_ops": 2,
        "op_exe_times": 3,
        "max_scope_name_num": 0,
    }
    assert "step_trace_raw_0_detail_time.csv" not in files


def test_columns_of_every_step_s_communication():
    """What the first step lacks is shown, too, though upstream would drop it: ERROR_JOB the other way round."""
    steps = Table(
        step=np.array([1, 2]),
        start=np.array([10, 300]),
        end=np.array([300, 900]),
        fp_start=np.array([10, 400]),
        bp_end=np.array([200, 700]),
    )
    names = np.array(["AllReduce", "AllReduce"], object)
    reduces = Table(
        step=np.array([2, 2]),
        stream=np.array([7, 7]),
        index=np.array([0, 1]),
        tag=np.array([3, 5]),
        name=names,
        start=np.array([500, 600]),
        end=np.array([550, 680]),
    )
    recording = Recording("ascend", Path("x"), spans([], [], []), {"steps": steps, "reduces": reduces})
    found = lines(render(recording)["step_trace_raw_0_detail_time.csv"])
    assert found[0][9:] == [
        "stream_7_0_AllReduce",
        "stream_7_0_AllReduce_start_point",
        "stream_7_0_AllReduce_end_point",
        "stream_7_1_AllReduce",
        "stream_7_1_AllReduce_start_point",
        "stream_7_1_AllReduce_end_point",
    ]
    assert [row[9:] for row in found[1:]] == [["0"] * 6, ["5", "50", "55", "8", "60", "68"], ["5", "50", "55", "8", "60", "68"]]
    assert len(lines(render(recording, dialect=MINDINSIGHT_0_5)["step_trace_raw_0_detail_time.csv"])[0]) == 9


def test_one_step_has_no_average():
    steps = Table(step=np.array([1]), start=np.array([0]), end=np.array([100]), fp_start=np.array([20]), bp_end=np.array([60]))
    found = lines(render(Recording("ascend", Path("x"), spans([], [], []), {"steps": steps}))["step_trace_raw_0_detail_time.csv"])
    assert found[1:] == [["1", "0", "10", "10", "2", "6", "2", "4", "4"], ["-", *["0"] * 8]]


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=9), st.integers(0, 2**60), st.sampled_from(["summarykit", "ascend", "kineto"]))
def test_the_parts_of_every_step_add_up(durations, origin, source):
    edges = origin + np.cumsum([0, *durations])
    count = len(durations)
    rows = [(int(edge), int(length) // 2, 0, Category.PHASE, 0, -1) for edge, length in zip(edges, durations, strict=False)]
    steps = Table(step=np.arange(1, count + 1), start=edges[:-1], end=edges[1:])
    files = render(Recording(source, Path("x"), spans(rows, ["data wait"], [Lane(1, 1)]), {"steps": steps}))
    for row, length in zip(lines(files["step_trace_raw_0_detail_time.csv"])[1:-1], durations, strict=True):
        _, start, end, total, _, _, *parts = map(int, row)
        assert sum(parts) == total == end - start
        assert min(parts) >= 0
        assert abs(parts[0] - length // 20) <= 1  # half of the step waited for data, and nothing says forward or backward


def test_ranks_stand_beside_each_other_and_files_are_whole(tmp_path):
    first, second = accelerator(), accelerator()
    second.rank = 1
    written = write_intermediate([first, second], tmp_path / "run/profiler")
    assert sorted(path.name for path in (tmp_path / "run/profiler").iterdir()) == sorted(path.name for path in written)
    assert Queries(tmp_path / "run/profiler").devices() == ["0", "1"]
    assert json.loads((tmp_path / "run/profiler/profiler_info_1.json").read_text())["rank_id"] == 1


def test_files_that_we_made_are_not_read_as_a_recording(tmp_path):
    write_intermediate(Recording("kineto", Path("x"), spans([(0, 5, 0, Category.HOST_OP, 0, -1)], ["a"], [Lane(1, 1)])), tmp_path)
    assert (tmp_path / "cpu_op_type_info_0.csv").exists()
    assert read(tmp_path) == []
    (tmp_path / "window").mkdir()
    (tmp_path / "window/device_queue_profiling_0.txt").write_text("1 16 1 3 100\n")
    assert [recording.source for recording in read(tmp_path)] == ["mindspore"]  # what lies below is found


def test_an_empty_recording_has_its_device_and_nothing_else():
    for source in ("ascend", "kineto", "summarykit", "gpu", "mindspore"):
        assert list(render(Recording(source, Path("x"), spans([], [], [])))) == ["profiler_info_0.json"]


def test_the_dataset_s_files_go_round(tmp_path):
    (tmp_path / "in").mkdir()
    pipeline = {
        "sampling_interval": 20,
        "op_info": [
            {
                "op_id": 0,
                "op_type": "BatchOp",
                "num_workers": 1,
                "children": [1],
                "metrics": {"output_queue": {"size": [1, 2], "length": 8}},
            },
            {"op_id": 1, "op_type": "MapOp", "num_workers": 4, "children": None, "metrics": None},
        ],
    }
    use = {
        "cpu_processor_num": 2,
        "sampling_interval": 20,
        "time_stamp": [1, 2, 3],
        "device_info": {"idle_utilization": [50, 60]},
        "process_info": {"user_utilization": [1, 2.5]},
        "op_info": [{"op_id": 1, "metrics": {"user_utilization": [3, 4]}}],
    }
    (tmp_path / "in/pipeline_profiling_0.json").write_text(json.dumps(pipeline))
    (tmp_path / "in/minddata_cpu_utilization_0.json").write_text(json.dumps(use))
    (tmp_path / "in/device_queue_profiling_0.txt").write_text("1 16 1 3 100\n")
    files = render(mindspore.parse(tmp_path / "in")[0])
    assert json.loads(files["pipeline_profiling_0.json"]) == pipeline
    assert json.loads(files["minddata_cpu_utilization_0.json"]) == use
    assert files["device_queue_profiling_0.txt"] == "1 16 1 3 100\n"


def test_communication_by_step():
    steps = Table(step=np.array([1, 2]), start=np.array([0, 100]), end=np.array([100, 200]))
    links = {"0-1": {"SDMA": [1.0, 2.0, 2000.0]}}
    rounds = [("AllReduce_0", 10, 1.0, 0.5, links), ("AllReduce_0", 20, 2.0, 0.0, links), ("AllReduce_1", 150, 4.0, 1.0, {})]
    columns = ("operator", "start", "cost", "wait", "links")
    table = Table(
        {
            name: np.array([row[place] for row in rounds], object if name in ("operator", "links") else None)
            for place, name in enumerate(columns)
        }
    )
    recording = Recording("ascend", Path("x"), spans([], [], []), {"steps": steps, "communication": table})
    cluster = Queries(recording).cluster
    assert cluster.communication({"step_id": 1})["communication"] == [
        {
            "communication_info": [
                3.0,
                0.5,
                {"0-1": {"SDMA": [2.0, 4.0, 4000.0]}},
                {"AllReduce_0": ["1", 3.0, 0.5, {"0-1": {"SDMA": [2.0, 4.0, 4000.0]}}]},
            ],
            "rank_id": 0,
        }
    ]
    average = cluster.communication()["communication"][0]["communication_info"]
    assert average[:2] == [3.5, 0.75]
    assert set(average[3]) == {"AllReduce_0", "AllReduce_1"}
    assert cluster.links({"filter_condition": {"step_id": 1}}).rows == [["0-1", "SDMA", 2.0, 4.0, 4000.0]]


def test_floating_point_operations_and_memory():
    operators = Table(
        name=np.array(["Default/Mul-op1"], object),
        type=np.array(["Mul"], object),
        side=np.array(["device"], object),
        count=np.array([2]),
        total=np.array([4.0]),
        average=np.array([2.0]),
        stream=np.array([1]),
        compat_count=np.array([2]),
        compat_average=np.array([2.0]),
    )
    flops = Table(name=np.array(["Default/Mul-op1"], object), count=np.array([2]), cube=np.array([4e6]), vector=np.array([1e6]))
    memory = Table(graph=np.array([3, 3]), node=np.array(["a", "b"], object), used=np.array([1 << 30, 3 << 29]))
    recording = Recording(
        "ascend",
        Path("x"),
        spans([], [], []),
        {"operators": operators, "flops": flops, "graph_memory": memory},
        meta={"aic_frequency": 1000.0, "ai_core_num": 32.0},
    )
    files = render(recording)
    assert files["flops_0.txt"].splitlines()[1] == "Default/Mul-op1, 4.0, 2.0, 0.001, 1.0, 0.5, 0.0"
    queries = Queries(recording)
    assert queries.flops_summary() == {
        "cube_FLOPs": 8.0,
        "cube_FLOPS": 2.0,
        "cube_FLOPS_Utilization": 0.001,
        "vec_FLOPs": 2.0,
        "vec_FLOPS": 0.5,
        "vec_FLOPS_Utilization": 0.0,
    }
    assert queries.flops_scope()["data"]["links"] == [{"source": "Total", "target": "Default", "value": 10.0}]
    assert queries.memory_summary()["peak_mem"] == 1.5
    assert queries.memory_graphics()["3"]["lines"] == [1.0, 1.5]
    assert queries.memory_breakdowns(3, 1) == []


@pytest.mark.shared
def test_a_kineto_trace_s_device_time_is_all_there(shared):
    (recording,) = read(shared / "data/profiler/kineto/tb_resnet50_nw4")
    files = render(recording)
    device = np.array([lane.device for lane in recording.spans.lanes])[recording.spans.lane]
    chosen = device & recording.spans.of(Category.KERNEL, Category.MEMCPY, Category.MEMSET, Category.COMMUNICATION)
    told = sum(float(row[7]) for row in lines(files["gpu_activity_data_0.csv"])[1:])
    assert told == pytest.approx(recording.spans.duration[chosen].sum() / 1e3)


def test_ranks_with_accelerators_say_what_communication_costs():
    """Of a step of 100 µs: 40 of computation, 30 of communication of which 20 lie beside it."""
    rows = [(0, 40_000, 0, Category.KERNEL, 0, -1), (20_000, 30_000, 1, Category.COMMUNICATION, 0, -1)]
    rows += [(100_000 + start, duration, name, category, lane, link) for start, duration, name, category, lane, link in rows]
    steps = Table(step=np.array([1, 2]), start=np.array([0, 100_000]), end=np.array([100_000, 200_000]))
    made = []
    for rank in (0, 1):
        lanes = [Lane(0, 7, "stream 7", device=True, rank=rank)]
        made.append(
            Recording("kineto", Path("x"), spans(rows, ["gemm", "ncclAllReduce"], lanes), {"steps": steps}, rank=rank, world_size=2)
        )
    files = render(made[1])
    assert lines(files["gpu_cluster_analyse_data-parallel_1_2_1.csv"]) == [
        ["computation_time", "communication_alone_time"],
        ["0.04", "0.01"],
        ["0.04", "0.01"],
        ["0.04", "0.01"],
    ]
    cluster = Queries(made).cluster
    assert (cluster.mode, cluster.size, cluster.communication_rate()) == ("data-parallel", 2, 0.2)
