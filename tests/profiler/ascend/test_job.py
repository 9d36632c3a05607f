"""A whole job: what the raw files of the captures say, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest
from testkit import ascend_files as raw

from summarykit.profiler.analysis import analyse
from summarykit.profiler.parsers import ascend
from summarykit.profiler.recording import Category

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def job3(shared):
    (recording,) = ascend.parse(shared / "data/profiler/ascend/raw/JOB3")
    return recording


def test_77_starts_without_an_end_do_no_harm(job3):
    """PR: 62,847 records, 31,462 starts, 31,385 ends."""
    assert len(job3.spans) == 31_385
    assert job3.skipped == {
        "tasks started again before they ended": 69,
        "tasks that never ended": 8,
        "AI CPU records without their partner": 323,
    }


def test_operators_have_the_true_mean_beside_that_of_upstream(job3):
    operators = job3.tables["operators"]
    row = {name: place for place, name in enumerate(name.rsplit("/", 1)[-1] for name in operators["name"])}
    for name, upstream in (("GatherV2-op55", 42.220212142857136), ("GatherV2-op33", 0.9352293333333332)):
        place = row[name]
        assert operators["compat_average"][place] == upstream
        spans = job3.spans
        chosen = spans.name == spans.names.index(operators["name"][place])
        assert operators["count"][place] == chosen.sum()
        assert operators["average"][place] == pytest.approx(spans.duration[chosen].mean() / 1e6)
    assert sum(operators["compat_average"].tolist()) == 126.43631757142849
    assert len(operators["name"]) == 199
    assert job3.meta["min_cycle"] == 43_806_841_592


def test_spans_lie_in_the_window_of_the_capture(job3):
    spans = job3.spans
    assert (np.diff(spans.start) >= 0).all()
    assert spans.start[0] == 38_753_186_165 * 10
    assert (spans.start + spans.duration).max() == 44_102_980_896 * 10
    assert set(spans.category.tolist()) == {Category.KERNEL}
    assert len(spans.lanes) == 59
    assert all(lane.device and lane.rank == 1 for lane in spans.lanes)


def test_steps_and_communication(job3):
    steps, reduces = job3.tables["steps"], job3.tables["reduces"]
    assert (steps.rows, reduces.rows) == (322, 322 * 11)
    assert (steps["end"] - steps["start"])[0] == 284_271_180
    assert set(reduces["name"]) == {"AllGather", "ReduceScatter", "parallel"}
    assert job3.meta["points"][1] == "Default/Cast-op6"


def test_the_analysis_takes_it(job3):
    report = analyse(job3)
    profile = report.profiles[0]
    assert profile.step_times["count"] == 322
    assert profile.step_times["mean"] == pytest.approx(205.38, abs=0.3)


def test_a_job_of_several_devices_and_every_kind_of_file(tmp_path):
    tasks = raw.task_desc(raw.mixed("Default/GetNext-op1", 128), raw.mixed("GetNext", 64), 3, 17)
    for device in (0, 1):
        base = 1000 * device
        (tmp_path / raw.HWTS.format(device, 0)).write_bytes(
            raw.hwts([(0, 17, base + 10, 3), (1, 17, base + 30, 3), (0, 5, base + 40, 9), (1, 5, base + 41, 9)])
        )
        (tmp_path / f"Framework.task_desc_info.{device}.slice_0").write_bytes(tasks)
        (tmp_path / f"DATA_PREPROCESS.dev.AICPU.{device}.slice_0").write_bytes(raw.ai_cpu(3, 17, base + 100, base + 500, 1, 2))
        (tmp_path / f"pipeline_profiling_{device}.json").write_text(
            '{"sampling_interval": 10, "op_info": [{"op_id": 0, "op_type": "Batch", "num_workers": 1}]}'
        )
    found = ascend.parse(tmp_path)
    assert [recording.rank for recording in found] == [0, 1]
    spans = found[1].spans
    assert [spans.names[name] for name in spans.name] == ["Default/GetNext-op1", "GetNext-op1", "9_5"] or [
        spans.names[name] for name in spans.name
    ] == ["Default/GetNext-op1", "9_5", "GetNext-op1"]
    assert found[1].tables["pipeline"]["op_type"].tolist() == ["Batch"]
    assert found[1].tables["operators"]["count"].tolist() == [1]
