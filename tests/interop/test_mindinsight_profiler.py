"""MindInsight's profiler pages open our files: its real server gives the same answers to its routes as our own queries do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testkit import ascend_files, profiler_routes

from summarykit.profiler.advice import mindinsight_cluster
from summarykit.profiler.advice.mindinsight import proposal
from summarykit.profiler.intermediate import write_intermediate
from summarykit.profiler.merging import merged
from summarykit.profiler.parsers import ascend, mindspore, read
from summarykit.profiler.queries import Queries
from summarykit.profiler.recording import Category, Lane, Recording, Spans, Table

CHECKOUT = str(Path(__file__).resolve().parents[2])
pytestmark = [pytest.mark.viewers, pytest.mark.shared]
PAGE = {"limit": 7, "offset": 1}
CORES = {"aic_frequency": "1000", "ai_core_num": "32"}
RUNS = {
    "job3": ("1", "ascend"),
    "job1": ("0", "ascend"),
    "aicpu": ("0", "ascend"),
    "data": ("0", "ascend"),
    "cpu": ("0", "ascend"),
    "kineto": ("0", "gpu"),
    "own": ("3", "ascend"),
    "ranks": ("0", "ascend"),
    "starved": ("0", "ascend"),
    "msprof": ("0", "ascend"),
    "counted": ("0", "ascend"),
    "cores": ("1", "ascend"),
    "torch": ("0", "ascend"),
}
LISTS = (
    "aicore_type",
    "aicore_detail",
    "aicpu_type",
    "aicpu_detail",
    "gpu_op_type",
    "gpu_op_info",
    "gpu_cuda_activity",
    "cpu_op_type",
    "cpu_op_info",
)


def own_recording(rank: int = 3) -> Recording:
    """Ten steps of 10 ms with 4 ms of waiting for data, 3 ms of backward and 1 ms of optimizer, as the collectors record them."""
    names = ["data wait", "forward", "backward", "optimizer", "addmm"]
    rows = []
    for step in range(10):
        begin = 1_700_000_000_000_000_000 + step * 10_000_000
        rows += [
            (begin, 4_000_000, 0),
            (begin + 4_000_000, 2_000_000, 1),
            (begin + 6_000_000, 3_000_000, 2),
            (begin + 9_000_000, 1_000_000, 3),
        ]
        rows += [(begin + 4_500_000, 500_000, 4)]
    start, duration, name = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    category = np.where(name == 4, Category.HOST_OP, Category.PHASE).astype(np.uint8)
    lane = np.zeros(len(start), np.int32)
    spans = Spans(
        start, duration, name.astype(np.int32), category, lane, np.full(len(start), -1, np.int64), names, [Lane(7, 7, "main", rank=rank)]
    )
    begins = 1_700_000_000_000_000_000 + np.arange(10) * 10_000_000
    steps = Table(step=np.arange(5, 15), start=begins, end=begins + 10_000_000)
    return Recording("summarykit", Path("own"), spans, {"steps": steps}, rank=rank, world_size=2)


def counted_recording() -> Recording:
    """What an Ascend device that counts operations and memory leaves."""
    recording = own_recording(0)
    recording.source, recording.meta = "ascend", {"aic_frequency": 1000.0, "ai_core_num": 32.0}
    name, kind, side = (np.array([text], object) for text in ("Default/Mul-op1", "Mul", "device"))
    one = {"average": np.array([2.0]), "stream": np.array([1]), "compat_count": np.array([2]), "compat_average": np.array([2.0])}
    recording.tables["operators"] = Table(name=name, type=kind, side=side, count=np.array([2]), total=np.array([4.0]), **one)
    recording.tables["flops"] = Table(name=name, count=np.array([2]), cube=np.array([4e6]), vector=np.array([1e6]))
    recording.tables["graph_memory"] = Table(graph=np.array([3, 3]), node=np.array(["a", "b"], object), used=np.array([1 << 30, 3 << 29]))
    return recording


def with_counters(job: Path, folder: Path) -> Path:
    """A captured job beside counters of its AI Cores; these are made from their layout, since no capture of them is public."""
    shutil.copytree(job, folder)
    folder.chmod(0o755)    # what is shared may be read-only
    (framework,) = (recording.tables["framework"] for recording in ascend.parse(job))
    numbers = zip(framework["stream_id"].tolist(), framework["task_id"].tolist(), strict=True)
    tasks = [(int(stream), int(task)) for stream, task in numbers if task]
    counters = [ascend_files.ai_core(stream, task, [task, 1, 2, 3, 4, 5, 6, 7]) for stream, task in tasks for _ in range(2)]
    files = {"aicore__data__1__slice_0": b"".join(counters), "info__json__1": json.dumps({"DeviceInfo": [CORES]})}
    return ascend_files.put(folder, **files)


@pytest.fixture(scope="module")
def base(shared: Path, tmp_path_factory: pytest.TempPathFactory, torch_run: list[Recording]) -> Path:
    folder, data = tmp_path_factory.mktemp("runs"), shared / "data/profiler"
    recordings = {
        "job3": ascend.parse(data / "ascend/raw/JOB3"),
        "job1": ascend.parse(data / "ascend/raw/JOB1"),
        "aicpu": ascend.parse(data / "ascend/raw/JOB_AICPU"),
        "data": mindspore.parse(data / "minddata_ms2.10"),
        "cpu": mindspore.parse(data / "ms2.10_cpu"),
        "kineto": read(data / "kineto/tb_resnet50_nw4"),
        "own": [own_recording()],
        "ranks": [own_recording(0), own_recording(1)],
        "starved": [own_recording(0)],
    }
    recordings["starved"][0].tables.update(recordings["data"][0].tables)
    recordings["msprof"] = read(data / "ascend/raw/msprof")[:1]
    recordings["torch"] = torch_run
    recordings["counted"] = [counted_recording()]
    recordings["cores"] = ascend.parse(with_counters(data / "ascend/raw/JOB3", folder.parent / "counters"))
    for name in ("profiler", "cluster_propose"):  # MindInsight's own test data
        shutil.copytree(data / "ascend/intermediate" / name, folder / name / "profiler")
    for run, made in recordings.items():
        assert made, run
        write_intermediate(made, folder / run / "profiler")
    return folder


TORCH = """
import sys, time, torch
from torch.utils.data import DataLoader, TensorDataset
from summarykit import Loop
from summarykit.profiler import Profiler, StopAtStep

class Slow(TensorDataset):
    def __getitem__(self, index):
        time.sleep(0.001)
        return super().__getitem__(index)

net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = DataLoader(Slow(torch.randn(60, 8), torch.randn(60, 1)), batch_size=4)
profiler = Profiler(output_path=sys.argv[1], start_profile=False)
with Loop(net, optimizer, data, callbacks=[StopAtStep(3, 12, profiler=profiler)]) as loop:
    for _ in loop.epochs():
        for x, y in loop.steps():
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
"""


@pytest.fixture(scope="module")
def torch_run(tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    """What our profiler recorded of a training in PyTorch whose data set is slow: at least 4 ms a batch."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("torch")
    subprocess.run([sys.executable, "-c", TORCH, str(folder)], check=True, timeout=600, env={**os.environ, "PYTHONPATH": CHECKOUT})
    return merged(read(folder))


def of(run: str) -> dict[str, str]:
    return {"train_id": f"./{run}", "profile": "profiler"}


ASCEND = {"device_id": "0", "device_type": "ascend"}
LINKS = {
    "filter_condition": {"src_rank": "[01]"},
    "sort_condition": {"name": "band_width", "type": "ascending"},
    "group_condition": {"limit": 3},
}
SHAPES = {"filter_condition": {"step_filter": ["2"]}, "sort_condition": {"name": "duration", "type": "descending"}}
MORE: dict[str, dict[str, Any]] = {
    "memory": {"path": "memory-summary", "args": {"dir": "./counted", **ASCEND}},
    "lines": {"path": "memory-graphics", "args": {"dir": "./counted", **ASCEND}},
    "node": {"path": "memory-breakdowns", "args": {"dir": "./counted", **ASCEND, "graph_id": 3, "node_id": 1}},
    "flops": {"path": "flops-summary", "args": {"train_id": "./counted", "device_id": "0"}},
    "flops_of_a_job": {"path": "flops-summary", "args": {"train_id": "./cores", "device_id": "1"}},
    "scopes": {"path": "flops-scope", "args": {"train_id": "./cores", "device_id": "1"}},
    "cluster_flops": {"path": "cluster-flops", "args": {"train_id": "./cluster_propose"}},
    "links": {"path": "search-cluster-link", "args": of("cluster_propose"), "body": LINKS},
    "communication": {"path": "search-cluster-communication", "args": of("cluster_propose"), "body": {"filter_condition": {"step_id": 1}}},
    "stages": {"path": "cluster-step-trace-summary", "args": of("cluster_propose"), "body": {"filter_condition": {"stage_id": 2}}},
    "advice": {"path": "summary/cluster-propose", "args": of("cluster_propose")},
    "shapes": {"path": "dynamic-shape-detail", "body": {"dir": "./profiler", **ASCEND}},
}


def questions(run: str) -> dict[str, dict[str, Any]]:
    device, kind = RUNS[run]
    page = {"train_id": f"./{run}", "profile": "profiler"}
    of_device = {**page, "device_id": device}
    steps = {"dir": f"./{run}", "device_id": device}
    asked: dict[str, dict[str, Any]] = {
        "devices": {"path": "devices", "args": page},
        "average": {"path": "training-trace/graph", "args": {**steps, "type": 0}},
        "second": {"path": "training-trace/graph", "args": {**steps, "type": 2}},
        "tails": {"path": "training-trace/target-time-info", "args": {**steps, "type": "tail"}},
        "timeline": {"path": "timeline", "args": {**steps, "device_type": kind, "scope_name_num": 0}},
        "timeline_summary": {"path": "timeline-summary", "args": {**steps, "device_type": kind}},
        "queue": {"path": "queue_info", "args": {**of_device, "type": "device_queue"}},
        "times": {"path": "minddata_op", "args": {**of_device, "type": "device_queue"}},
        "process": {"path": "process_summary", "args": of_device},
        "pipeline": {"path": "minddata-pipeline/op-queue", "args": page, "body": {"device_id": device}},
        "stage": {"path": "minddata-pipeline/queue", "args": {**of_device, "op_id": 1}},
        "processors": {"path": "minddata-cpu-utilization-summary", "args": page, "body": {"device_id": device, "filter_condition": {}}},
        "propose": {"path": "summary/propose", "args": of_device},
        "ranks": {"path": "cluster-step-trace-summary", "args": page, "body": {"filter_condition": {}}},
    }
    for name in LISTS:
        asked[name] = {"path": "ops/search", "args": page, "body": {"op_type": name, "device_id": device, "group_condition": PAGE}}
    return {name: {**question, "path": f"/profile/{question['path']}"} for name, question in asked.items()}


@pytest.fixture(scope="module")
def mindinsight_python() -> Path:
    python = Path(os.environ.get("SUMMARYKIT_ENVS", Path(__file__).parents[2] / ".envs")) / "mindinsight/bin/python"
    if not python.exists():
        pytest.skip(f"viewers: no {python}; `bash .ci/run` builds it, SUMMARYKIT_ENVS names another place")
    return python


@pytest.fixture(scope="module")
def answers(base: Path, shared: Path, mindinsight_python: Path) -> dict[tuple[str, str], Any]:
    asked = {(run, name): question for run in RUNS for name, question in questions(run).items()}
    asked.update({("more", name): {**question, "path": f"/profile/{question['path']}"} for name, question in MORE.items()})
    told = profiler_routes.ask(mindinsight_python, shared / "clients", base, list(asked.values()))
    return dict(zip(asked, told, strict=True))


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("run", RUNS)
def test_operators_are_the_same(run, base, answers):
    queries = Queries(base / run / "profiler", RUNS[run][0], generation="2-upstream")
    for name in LISTS:
        assert answers[run, name] == plain(queries.operators(name, {"group_condition": PAGE}).to_dict()), name


@pytest.mark.parametrize("run", ["job3", "job1", "kineto", "own", "ranks", "torch"])
def test_steps_are_the_same(run, base, answers):
    steps = Queries(base / run / "profiler", RUNS[run][0]).steps
    for name, number in (("average", 0), ("second", 2)):
        told = plain({**steps.ask({"step_id": number}), "summary": steps.summary(), "point_info": steps.points(number)})
        assert answers[run, name] == told
    told = plain({**steps.ask({"mode": "proc", "proc_name": "tail"}), "summary": steps.summary()})
    assert answers[run, "tails"] == told


def test_steps_of_our_own_recording_are_what_was_recorded(answers):
    assert [{**part, "start": round(part["start"], 3)} for part in answers["own", "average"]["training_trace_graph"][1]] == [
        {"name": "iteration_interval", "start": 0, "duration": 4.0},
        {"name": "fp_and_bp", "start": 4.0, "duration": 5.0},
        {"name": "tail", "start": 9.0, "duration": 1.0},
    ]
    assert answers["own", "average"]["summary"]["total_steps"] == 10
    assert answers["own", "devices"] == {"device_list": ["3"], "profiler_mode": "graph"}


def test_steps_of_job3_are_the_known_ones(answers):
    assert answers["job3", "average"]["size"] == 322
    assert answers["job3", "average"]["summary"]["total_time"] == 205.3809
    assert len(answers["job3", "average"]["training_trace_graph"]) == 13


@pytest.mark.parametrize("run", ["job3", "kineto"])
def test_timelines_are_the_same(run, base, answers):
    queries = Queries(base / run / "profiler", RUNS[run][0])
    assert answers[run, "timeline"] == plain(queries.timeline())
    assert len(answers[run, "timeline"]) > 1000
    assert answers[run, "timeline_summary"] == plain(queries.timeline_summary())


def test_the_dataset_s_pipeline_is_the_same(base, answers):
    queries = Queries(base / "data/profiler", "0")
    queue, times = queries.device_queue()
    assert (answers["data", "queue"], answers["data", "times"]) == (plain(queue), plain(times))
    assert answers["data", "process"] == queries.process_summary()
    assert answers["data", "process"]["data_process"]["status"] == "warning"  # its map slept: the queue was empty
    assert answers["data", "pipeline"] == plain(queries.minddata_pipeline().to_dict())
    assert answers["data", "stage"] == plain(queries.pipeline.queue(1))
    assert answers["data", "processors"] == plain(queries.cpu_utilization())


def test_ranks_stand_beside_each_other(base, answers):
    assert answers["ranks", "ranks"] == plain(Queries(base / "ranks/profiler").cluster.step_trace())
    assert [info["rank_id"] for info in answers["ranks", "ranks"]["info"]] == [0, 1]


def test_its_advice_is_ours(base, answers):
    for run in RUNS:
        assert answers[run, "propose"] == plain(proposal(Queries(base / run / "profiler", RUNS[run][0])))
    advice = answers["starved", "propose"]
    assert advice["step_trace-iter_interval"] == ["0.5"]  # 4 ms of waiting a step are above its 0.5
    assert advice["minddata_pipeline-map_op"] == ["MapOp_1"]


def test_memory_and_operations_of_a_device(base, answers):
    queries = Queries(base / "counted/profiler", "0")
    assert answers["more", "memory"] == {"summary": queries.memory_summary()}
    assert answers["more", "lines"] == queries.memory_graphics()
    assert answers["more", "node"] == {"breakdowns": queries.memory_breakdowns(3, 1)}
    assert answers["more", "flops"] == queries.flops_summary()
    assert answers["more", "memory"]["summary"]["peak_mem"] == 1.5


def test_operations_of_each_scope_of_a_job(base, answers):
    queries = Queries(base / "cores/profiler", "1")
    assert answers["more", "flops_of_a_job"] == queries.flops_summary()
    assert answers["more", "scopes"] == queries.flops_scope()
    diagram = answers["more", "scopes"]["data"]
    total = sum(link["value"] for link in diagram["links"] if link["source"] == "Total")
    summary = queries.flops_summary()
    assert total == pytest.approx(summary["cube_FLOPs"] + summary["vec_FLOPs"], rel=1e-3)
    assert {"Total", "Default", "Gradients"} <= {node["name"] for node in diagram["nodes"]}
    assert answers["more", "scopes"]["max_scope_num"] >= 3    # the page draws nothing without it


def test_its_own_data_of_a_cluster(base, answers):
    cluster = Queries(base / "cluster_propose/profiler").cluster
    assert answers["more", "cluster_flops"] == cluster.flops()
    links = cluster.links(LINKS)
    assert answers["more", "links"] == {"cluster_link_info": links.rows, "size": links.size}
    ours = plain(cluster.communication({"step_id": 1}))
    assert {**answers["more", "communication"], "total_step_num": 6} == ours  # it depends on which rank's file comes first
    assert answers["more", "stages"] == plain(cluster.step_trace({"stage_id": 2}))
    assert answers["more", "advice"] == mindinsight_cluster.proposal(cluster)


def test_its_own_data_of_changing_shapes(base, answers):
    queries = Queries(base / "profiler/profiler", "0")
    assert answers["more", "shapes"] == queries.dynamic_shapes()
    found = queries.dynamic_shapes("gpu_op_type_info", SHAPES)
    assert [row[4] for row in found["object"]] == sorted((row[4] for row in found["object"]), reverse=True)
    assert found["all_type"] == list(queries.dynamic_shapes()["operator_type"]["2"])
    assert found["filter_type"]["Add"][1] == queries.dynamic_shapes()["operator_type"]["2"]["Add"][2]


def test_operators_of_msprof_are_listed(answers):
    assert answers["msprof", "aicore_detail"]["size"] > 100
    assert answers["msprof", "average"]["size"] == 10


def test_our_profiler_s_own_run_of_torch(answers):
    interval, rest, _ = answers["torch", "average"]["training_trace_graph"][1]
    assert answers["torch", "average"]["size"] == 10
    assert interval["duration"] > 4  # four items of a millisecond each
    assert rest["duration"] > 0
    assert answers["torch", "cpu_op_type"]["size"] > 0
