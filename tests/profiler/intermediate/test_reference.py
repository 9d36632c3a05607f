"""Files made of real captures are, byte for byte, those that MindInsight 0.5 and MindSpore 1.0 made of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from summarykit.profiler.intermediate import MINDINSIGHT_0_5, MINDSPORE_1, render
from summarykit.profiler.parsers import ascend, mindspore

pytestmark = pytest.mark.shared
JOBS = {"JOB1": 0, "JOB3": 1, "JOB4": 0, "JOB_AICPU": 0, "ERROR_JOB": 10}
OTHERWISE = {
    "reference_summary.json",  # answers to queries: see queries/test_reference.py
    "output_format_data_hwts_1.txt",  # the raw records: see ascend/test_hwts.py
    "timeline_display_1.json",  # below: upstream's is no JSON, and lacks communication
}


def reference(path: Path) -> str:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return content.decode().replace("\r\n", "\n").rstrip()


@pytest.fixture(scope="module")
def data(shared):
    return shared / "data/profiler/ascend"


@pytest.mark.parametrize("job", JOBS)
def test_mindinsight_0_5(job, data):
    (recording,) = ascend.parse(data / "raw" / job)
    files = render(recording, dialect=MINDINSIGHT_0_5)
    expected = {path.name.removesuffix(".gz"): path for path in (data / "reference" / job).iterdir()}
    assert recording.rank == JOBS[job]
    for name in sorted(expected.keys() - OTHERWISE):
        assert files[name].rstrip() == reference(expected[name]), name


@pytest.mark.parametrize(("job", "device"), [("JOB1", 0), ("JOB3", 1), ("ERROR_JOB", 10)])
def test_steps_of_mindspore_1_0(job, device, data):
    (recording,) = ascend.parse(data / "raw" / job)
    name = f"step_trace_raw_{device}_detail_time.csv"
    files = render(recording, dialect=MINDSPORE_1)
    assert files[name].rstrip() == reference(data / "reference/mindspore_1.0.0_step_trace" / job / name)


def test_the_timeline_has_all_of_upstream_s_events_and_the_communication_that_it_loses(data):
    (recording,) = ascend.parse(data / "raw/JOB3")
    ours = json.loads(render(recording, dialect=MINDINSIGHT_0_5)["timeline_display_1.json"])
    theirs = json.loads(reference(data / "reference/JOB3/timeline_display_1.json.gz").removesuffix(",]") + "]")
    operators = [event for event in theirs if event["pid"] != 10_000]
    assert [event for event in ours if event["pid"] != 10_000] == operators
    times = {(event["tid"], round(event["ts"], 2), round(event["dur"], 2)) for event in ours if event["pid"] == 10_000}
    assert len(times) == 322 * 11
    assert {(event["tid"], round(event["ts"], 2), round(event["dur"], 2)) for event in theirs if event["pid"] == 10_000} < times


@pytest.mark.parametrize(("job", "device"), [("JOB1", 0), ("JOB2", 0)])
def test_the_pipeline_of_a_job(job, device, data):
    (recording,) = mindspore.parse(data / "raw" / job)
    rows = render(recording)[f"minddata_pipeline_raw_{device}.csv"].splitlines()
    assert rows[1] in ("0,Batch,4,,,,,10,,[1]", '0,Batch,4,,,,,10,,"[1, 3]"')
    if job == "JOB1":
        assert "\n".join(rows) == reference(data / "reference/JOB1/minddata_pipeline_raw_0.csv")
