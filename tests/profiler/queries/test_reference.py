"""Answers are those of MindInsight 2.3.1 and 0.5 to the same questions about the same files, but for what is wrong there."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from summarykit.profiler.advice import mindinsight, mindinsight_cluster
from summarykit.profiler.analysis import analyse
from summarykit.profiler.intermediate import MINDINSIGHT_0_5, write_intermediate
from summarykit.profiler.parsers import ascend
from summarykit.profiler.queries import NotRecordedError, Queries

pytestmark = pytest.mark.shared
BETTER = {
    "run_1_1.timeline_summary": "this folder's file has the name of 0.5, which 2.3.1 does not look for; here it is found",
    "run_2_1.get_next": "a mean as text: here it is a number",
    "cluster.cluster_hccl": "total_step_num depends on which rank's file the system lists first; here it is the most of any rank",
}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)  # sums of ranks: the last digit
    return bool(one == other)


@pytest.fixture(scope="module")
def data(shared):
    return shared / "data/profiler/ascend"


@pytest.fixture(scope="module")
def told(data) -> dict[str, Any]:
    return json.loads((data / "reference/analysers_proposers_v2.3.1.json").read_text())


def answer(queries: Queries, asked: dict[str, Any]) -> Any:
    kind, condition, method = asked["analyser"], asked["condition"], asked["method"]
    wanted, cluster = (condition or {}).get("filter_condition"), queries.cluster
    if method == "get_cluster_link_info":
        links = cluster.links(condition)
        return {"cluster_link_info": links.rows, "size": links.size}
    answers = {
        "step_trace": lambda: queries.step_trace(wanted),
        "minddata_pipeline": lambda: queries.minddata_pipeline(condition).to_dict(),
        "minddata_cpu_utilization": lambda: queries.cpu_utilization(wanted),
        "analyse_device_queue_info": queries.device_queue,
        "analyse_get_next_info": queries.get_next,
        "timeline": queries.timeline_summary,
        "cluster_step_trace": lambda: cluster.step_trace(wanted),
        "cluster_hccl": lambda: cluster.communication(wanted),
        "cluster_flops": cluster.flops,
        "get_step_interval": cluster.step_intervals,
        "get_rank_flops_per_second": cluster.flops_per_second,
        "get_communication_rate": cluster.communication_rate,
        "get_between_stage_communication_rate": cluster.receive_rate,
        "get_within_stage_communication_rate": cluster.stage_rates,
    }
    found = answers.get(method) or answers.get(kind) or (lambda: queries.operators(kind, condition).to_dict())
    return json.loads(json.dumps(found()))


def test_mindinsight_2_3_1(data, told):
    asked = {name: each for name, each in told.items() if "analyser" in each}
    assert len(asked) == 65
    compared = 0
    for name, each in asked.items():
        queries = Queries(data / "intermediate" / each["dir"].replace("normal_run/", ""), each["device"], generation="2-upstream")
        if "error" in each or name in BETTER:
            continue
        assert same(answer(queries, each), each["result"]), name
        compared += 1
    assert compared == 54


def test_where_mindinsight_is_wrong(data, told):
    def queries(folder, device):
        return Queries(data / "intermediate" / folder / "profiler", device)

    assert queries("run_1", 1).timeline_summary()["op_exe_times"] == 2817
    _, times = queries("run_2", 1).get_next()
    assert str(times["summary"]["time_summary"]["avg_cost"]) == told["run_2_1.get_next"]["result"][1]["summary"]["time_summary"]["avg_cost"]
    cluster = Queries(data / "intermediate/cluster_propose").cluster
    expected = told["cluster.cluster_hccl"]["result"]
    assert same(json.loads(json.dumps(cluster.communication())), {**expected, "total_step_num": 6})


def test_what_mindinsight_fails_at(data, told):
    """Files of older versions lack a column; a pipeline without stages is no error; an absent file is said as what it is."""
    failed = {name for name, each in told.items() if "error" in each}
    found = Queries(data / "intermediate/run_2/profiler", 1).operators("aicore_detail", {"group_condition": {"limit": 3, "offset": 0}})
    assert found.rows[0][4] is None
    assert Queries(data / "intermediate/profiler", 1).minddata_pipeline({"filter_condition": {"threshold": [0.8, 0.2]}}).rows == []
    for name in sorted(failed - {"run_2_1.aicore_detail_top10", "run_2_1.aicore_detail_filter", "profiler_1.minddata_pipeline_thr"}):
        with pytest.raises(NotRecordedError, match=r"^no .+ in "):
            answer(Queries(data / "intermediate" / told[name]["dir"].replace("normal_run/", ""), told[name]["device"]), told[name])


def test_percents_of_old_files_are_what_they_are(data):
    folder = data / "intermediate/run_1/profiler"
    row = ["MatMul", 2807.82, 25]
    condition = {"filter_condition": {"kernel_type": {"in": ["MatMul"]}}}
    assert Queries(folder, 1).operators("aicore_type", condition).rows == [[*row, 57.6, 112.313]]
    assert Queries(folder, 1, generation="2-upstream").operators("aicore_type", condition).rows == [[*row, 5760.0, 112.313]]


def test_sorting_is_by_the_column_that_was_asked_for(data):
    condition = {
        "filter_condition": {"kernel_type": {"in": ["MatMul"]}, "is_display_full_op_name": False},
        "sort_condition": {"name": "avg_execution_time", "type": "ascending"},
    }
    times = Queries(data / "intermediate/run_1/profiler", 1).operators("aicore_detail", condition).table["avg_execution_time"].tolist()
    assert times == sorted(times)
    times = Queries(data / "intermediate/run_1/profiler", 1, generation="2-upstream").operators("aicore_detail", condition)
    assert times.table["avg_execution_time"].tolist() != sorted(times.table["avg_execution_time"].tolist())


@pytest.mark.parametrize(("job", "device"), [("JOB1", 0), ("JOB3", 1), ("JOB4", 0), ("JOB_AICPU", 0), ("ERROR_JOB", 10)])
def test_mindinsight_0_5(job, device, data, tmp_path):
    expected = json.loads((data / "reference" / job / "reference_summary.json").read_text())["queries"]
    write_intermediate(ascend.parse(data / "raw" / job), tmp_path, dialect=MINDINSIGHT_0_5)
    queries = Queries(tmp_path, device, generation="0.5")
    assert queries.operators("aicore_type", {"sort_condition": {"name": "execution_time (ms)"}}).to_dict() == expected["aicore_type"]
    page = {"sort_condition": {"name": "avg_execution_time (ms)"}, "group_condition": {"limit": 10, "offset": 0}}
    found = queries.operators("aicore_detail", page).to_dict()
    assert found == expected["aicore_detail"] or (found["object"] == [] and "error" in expected["aicore_detail"])
    if "step_trace_avg" not in expected:
        with pytest.raises(NotRecordedError):
            queries.step_trace()
        return
    assert queries.step_trace({"step_id": 0}) == expected["step_trace_avg"]
    assert queries.step_trace({"step_id": 1}) == expected["step_trace_step1"]
    for part in ("iteration_interval", "fp_and_bp", "tail"):
        assert queries.step_trace({"mode": "proc", "proc_name": part}) == expected[f"proc_{part}"]


@pytest.mark.parametrize(
    ("name", "folder", "device"),
    [
        ("run_1_1", "run_1/profiler", 1),
        ("run_2_1", "run_2/profiler", 1),
        ("profiler_0", "profiler", 0),
        ("profiler_1", "profiler", 1),
    ],
)
def test_advice_of_2_3_1(name, folder, device, data, told):
    assert mindinsight.proposal(Queries(data / "intermediate" / folder, device)) == told[f"{name}.proposal"]["result"]


def test_advice_on_ranks_of_2_3_1(data, told):
    assert mindinsight_cluster.proposal(Queries(data / "intermediate/cluster_propose").cluster) == told["cluster.proposal"]["result"]


def test_advice_on_ranks_is_in_the_report(data):
    report = analyse(data / "intermediate/cluster_propose")
    found = [(advice.title, advice.evidence) for advice in report.advice if advice.rule == "cluster"]
    assert found == [
        ("rank 2 waits longest for its input", "2.43 ms between two steps, 22.2% more than the ranks on average"),
        ("the link from rank 0 to rank 1 is slow", "SDMA: 74.3% below its kind on average"),
        ("stages of the pipeline wait for each other", "receiving takes 25.8% of communication and computation"),
        ("ranks of stage 1 communicate for long", "60.3% of communication and computation"),
        ("stage 2 of the pipeline has most to compute", "50.9% more operations than the stages on average"),
    ]


def test_a_slow_stage_is_no_advice_where_no_step_waits_for_it(data):
    waiting, busy = (analyse(data / folder) for folder in ("raw/JOB1", "intermediate/run_1"))
    assert [advice.title for advice in mindinsight.check(waiting)] == ["slow stage of the dataset: TFReader_3/TFReader_2"]
    assert "minddata_pipeline-general" in mindinsight.findings(Queries(busy.recordings[0]))
    assert busy.advice == []


def test_a_real_run_that_waits_for_its_map_is_told_so(shared):
    """The map of this run sleeps; its queue is empty while that of the generator in front of it fills."""
    report = analyse(shared / "data/profiler/minddata_ms2.10")
    (advice,) = mindinsight.check(report)
    assert advice.title == "slow stage of the dataset: MapOp_1"
    assert "15 of 16 batches" in advice.evidence
    assert list(mindinsight.check(analyse(shared / "data/profiler/ascend/raw/JOB3"))) == []
