"""Questions to small profiles, and to none."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from summarykit.profiler.advice import mindinsight, mindinsight_cluster
from summarykit.profiler.queries import NotRecordedError, Queries
from summarykit.profiler.queries.operators import KINDS

STEPS = """step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail,{0},{0}_start_point,{0}_end_point
1,100000,1100000,1000000,300000,800000,200000,500000,300000,100000,500000,600000
2,1100000,2100000,1000000,1100000,1800000,0,700000,300000,0,0,0
-,1100000,2100000,1000000,1100000,1800000,0,700000,300000,0,0,0
""".format("stream_7_0_AllReduce")


@pytest.fixture
def queries(tmp_path):
    def make(device=None, **files):
        for name, content in files.items():
            (tmp_path / name.replace("__", ".")).write_text(content if isinstance(content, str) else json.dumps(content))
        return Queries(tmp_path, device)

    return make


def test_the_picture_of_a_step(queries):
    steps = queries(step_trace_raw_3_detail_time__csv=STEPS, step_trace_point_info_3__json=[{"fp_start": "a"}, {"fp_start": "b"}]).steps
    assert steps.graph(1) == [
        [{"name": "", "start": 0, "duration": 10.0}],
        [
            {"name": "iteration_interval", "start": 0, "duration": 2.0},
            {"name": "fp_and_bp", "start": 2.0, "duration": 5.0},
            {"name": "tail", "start": 7.0, "duration": 3.0},
        ],
        [
            {"name": "", "start": 2.0, "duration": 2.0},
            {"name": "stream_7_0_AllReduce", "start": 4.0, "duration": 1.0},
            {"name": "", "start": 5.0, "duration": 5.0},
        ],
    ]
    assert len(steps.graph(2)) == 2  # no communication in it
    assert steps.points(2) == {"fp_start": "b"}
    assert steps.communication() == [["stream_7_0_AllReduce", 7, 5.0, 1.0, 10_000]]
    assert steps.ask({"mode": "proc", "proc_name": "total", "step_id": 1, "time_type": "systime"})["info"] == {"total": [1_000_000]}
    assert steps.summary()["fp_and_bp_percent"] == "70.0%"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"mode": "x"}, 'mode must be "step" or "proc", not \'x\''),
        ({"step_id": 3}, "step_id must be from 0 to 2, not 3"),
        ({"step_id": "1"}, "step_id must be from 0 to 2"),
        ({"time_type": "x"}, "time_type must be"),
        ({"mode": "proc"}, r"proc_name must be one of \['start_point', .*not None"),
    ],
)
def test_questions_that_are_none(queries, wanted, message):
    with pytest.raises(ValueError, match=message):
        queries(step_trace_raw_0_detail_time__csv=STEPS).step_trace(wanted)


def test_inference_has_no_backward(queries):
    content = "step_num,start_point,end_point,total,fp_point,iteration_interval,fp\n1,0,300000,300000,100000,100000,200000\n-,0,0,0,0,0,0\n"
    steps = queries(step_trace_raw_0_detail_time__csv=content).steps
    assert steps.graph(1)[1][1] == {"name": "fp", "start": 1.0, "duration": 2.0}
    assert steps.summary()["fp"] == 0.0


def pipeline(*rows: str) -> str:
    return (
        "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,output_queue_usage_rate,sample_interval,"
        "parent_id,children_id\n" + "".join(f"{row}\n" for row in rows)
    )


@pytest.mark.parametrize(
    ("uses", "slow"),
    [
        ((0.9, 0.9), [0]),  # every queue is full: the input is not what is slow
        ((0.3, 0.9), [1]),  # a stage drains what feeds it
        ((0.3, 0.3), [2]),  # the first stage lags
        ((0.1, 0.3), [1, 2]),
        ((0.75, 0.7), []),
    ],
)
def test_slow_stages(queries, uses, slow):
    rows = ["0,Batch,4,,,,,10,,[1]", f'1,MapOp,1,"[1]",1.0,8,{uses[0]},10,0,[2]', f'2,GeneratorOp,1,"[1]",1.0,8,{uses[1]},10,1,']
    found = queries(minddata_pipeline_raw_0__csv=pipeline(*rows))
    assert found.minddata_pipeline({"filter_condition": {"threshold": [0.8, 0.6]}}).table["op_id"].tolist() == slow
    assert found.minddata_pipeline({"filter_condition": {"op_type": {"in": ["MapOp"]}}, "sort_condition": {"name": "op_id"}}).size == 1
    with pytest.raises(ValueError, match="sort_condition"):
        found.minddata_pipeline({"sort_condition": {"name": "children_id"}})
    assert found.pipeline.queue(0)["queue_info"] is None
    assert found.pipeline.queue(2)["parent_op"] == {"op_id": 1, "op_type": "MapOp", "num_workers": 1}
    with pytest.raises(NotRecordedError, match=r"no stage 9; there are \[0, 1, 2\]"):
        found.pipeline.queue(9)


@pytest.mark.parametrize(
    ("sizes", "network", "status"),
    [
        ([0, 0, 1], None, "data_process"),
        ([1, 1, 1], None, "device_queue_warning"),
        ([1, 1, 1], [0, 1], "data_transmission"),
        ([1, 1, 1], [1, 1], "device_queue_warning"),
        ([0, 0, 1], [0], "data_process"),
    ],
)
def test_which_part_of_the_input_is_slow(queries, sizes, network, status):
    files = {"device_queue_profiling_0__txt": "".join(f"1 4 {batch} {size} 9\n" for batch, size in enumerate(sizes))}
    if network is not None:
        files["minddata_aicpu_0__txt"] = "".join(f"GetNext_dequeue_wait 1 2 {size}\n" for size in network)
    told = queries(**files).process_summary()
    assert [name for name, part in told.items() if part.get("status") == "warning"] == [status]
    assert told["device_queue_info"]["summary"]["total_batch"] == 3


def test_use_of_the_processors_of_some_steps(queries):
    found = queries(
        minddata_cpu_utilization_0__json={
            "cpu_processor_num": 2,
            "sampling_interval": 10,
            "time_stamp": [0, 5, 10, 20, 30],
            "device_info": {"user_utilization": [1, 2, 3, 4]},
            "process_info": {},
            "op_info": [{"op_id": -1, "metrics": {}}, {"op_id": 0, "metrics": {"user_utilization": [10, 20, 30, 40]}}],
        },
        device_queue_profiling_0__txt="1 4 7 0 10\n0 0 7 1 10\n1 4 8 0 20\n1 4 9 0 25\n",
    )
    whole = found.cpu_utilization()
    assert (whole["step_info"], whole["step_total_num"]) == (["1", "2", "3"], 3)  # what lies before the first batch is of none
    assert found.cpu_utilization({"start_step": 0})["step_info"] == [0, "1", "2", "3"]
    assert whole["op_info"]["op_list"][0]["metrics"]["user_utilization"]["avg_value"] == 30
    some = found.cpu_utilization({"start_step": 1, "end_step": 2})
    assert some["device_info"] == {"user_utilization": {"metrics": [2, 3], "avg_value": 2}}
    assert found.idle() == 100


def test_nothing_recorded(queries):
    found = queries()
    assert found.devices() == []
    for kind in KINDS:
        assert found.operators(kind).rows == []
    assert (found.device_queue(), found.get_next(), found.process_summary()) == (({}, {}), ({}, {}), {})
    assert (found.timeline(), found.flops_summary(), found.flops_scope(), found.dynamic_shapes()) == ([], {}, {}, {})
    assert mindinsight.findings(found) == {}
    assert mindinsight_cluster.proposal(found.cluster) == {}
    for ask in (
        found.step_trace,
        found.cpu_utilization,
        found.memory_summary,
        found.memory_graphics,
        lambda: found.memory_breakdowns(0, 0),
    ):
        with pytest.raises(NotRecordedError, match="other files"):
            ask()
    with pytest.raises(ValueError, match="kind must be one of"):
        found.operators("x")
    with pytest.raises(ValueError, match="generation must be one of"):
        Queries(found.source._folder, generation="9")


def test_files_that_hold_no_json(queries):
    with pytest.raises(NotRecordedError, match=r"memory_usage_summary_0\.json holds no JSON"):
        queries(memory_usage_summary_0__json="{").memory_summary()


def test_operators_by_type(queries):
    runs = ("Mul-op1,1,3", "Add-op2,2,1", "Mul-op3,5,1", "Sub-op4,9,1")
    rows = "full_kernel_name,execution_time,execution_frequency\n" + "".join(f"Default/{run}\n" for run in runs)
    framework = "task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,op_info\n" + "".join(
        f"1,1,1,Default/{name},Default/{name},{name},{name[:3]},Default,\n" for name in ("Mul-op1", "Add-op2", "Mul-op3", "Sub-op4")
    )
    found = queries(aicore_intermediate_0_detail__csv=rows, framework_raw_0__csv=framework)
    wanted = {"is_display_detail": False, "is_display_full_op_name": False}
    assert found.operators_by_type("aicore_detail", ["Add", "Mul"], wanted).table["kernel_name"].tolist() == [
        "Add-op2",
        "Mul-op3",
        "Mul-op1",
    ]


NAMES = [
    "step_trace_raw_0_detail_time.csv",
    "aicore_intermediate_0_type.csv",
    "aicore_intermediate_0_detail.csv",
    "framework_raw_0.csv",
    "flops_0.txt",
    "aicpu_intermediate_0.csv",
    "pynative_op_intermediate_0_type.csv",
    "pynative_op_intermediate_0_detail.csv",
    "gpu_op_type_info_0.csv",
    "gpu_op_detail_info_0.csv",
    "gpu_activity_data_0.csv",
    "cpu_op_type_info_0.csv",
    "cpu_op_detail_info_0.csv",
    "minddata_pipeline_raw_0.csv",
    "device_queue_profiling_0.txt",
    "minddata_aicpu_0.txt",
    "minddata_cpu_utilization_0.json",
    "pipeline_profiling_0.json",
    "dynamic_shape_info_0.json",
    "flops_summary_0.json",
    "flops_scope_0.json",
    "ascend_timeline_summary_0.json",
    "memory_usage_summary_0.json",
    "memory_usage_details_0.json",
    "hccl_raw_0.csv",
    "step_trace_point_info_0.json",
    "ascend_timeline_display_0.json",
    "profiler_info_0.json",
]
VALUES = st.sampled_from(["", "0", "1", "2.5", "-", "x", "[1]", "1-2", '"', "{}", "GetNext", "1 2 3 4 5", "nan"])
LINES = st.lists(st.lists(VALUES, max_size=11).map(",".join) | VALUES, max_size=5).map("\n".join)

KEYS = (
    "op_info",
    "op_id",
    "metrics",
    "device_info",
    "idle_utilization",
    "time_stamp",
    "operator",
    "operator_type",
    "1",
    "breakdowns",
    "FLOPs",
)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=10,
).map(json.dumps)


def questions(queries):
    yield from (lambda kind=kind: queries.operators(kind, {"sort_condition": {"name": KINDS[kind].columns[0]}}) for kind in KINDS)
    yield from (queries.device_queue, queries.get_next, queries.process_summary, queries.cpu_utilization, queries.idle, queries.timeline)
    yield from (
        queries.step_trace,
        queries.minddata_pipeline,
        lambda: queries.minddata_pipeline({"filter_condition": {"threshold": [0.8, 0.6]}}),
    )
    yield from (queries.flops_summary, queries.flops_scope, queries.timeline_summary)
    yield from (queries.memory_summary, queries.memory_graphics, queries.dynamic_shapes)
    yield from (lambda: queries.steps.summary(), lambda: queries.steps.communication(), lambda: queries.dynamic_shapes("gpu_op_type_info"))
    cluster = queries.cluster
    yield from (cluster.step_trace, cluster.flops, cluster.communication, cluster.links, cluster.peak_memory, cluster.step_intervals)
    yield from (lambda: mindinsight.findings(queries), lambda: mindinsight_cluster.proposal(cluster))


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_does_no_harm_to_any_question(name, tmp_path_factory):
    """It is left out in part or in whole: an error is one that says that the data is not there."""
    folder = tmp_path_factory.mktemp("damaged")
    for other in NAMES:
        (folder / other).write_text("")

    @settings(max_examples=40)
    @given(LINES | DOCUMENTS if name.endswith(".json") else LINES)
    def ask(content):
        (folder / name).write_text(content)
        for question in questions(Queries(folder, 0)):
            with contextlib.suppress(NotRecordedError):
                question()

    ask()
