"""The trace that is written is one that others, and this library, read."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import numpy as np
import pytest
from testkit.recordings import HOST, recording

from summarykit.profiler.analysis import analyse
from summarykit.profiler.parsers import read
from summarykit.profiler.recording import Category, Lane, Table
from summarykit.profiler.timeline import write_timeline

SPANS = [
    ("data wait", Category.PHASE, 0, 1000, 4),
    ('a "name"\n\u00e9', Category.HOST_OP, 0, 1004.000001, 2.5),
    ("kernel", Category.KERNEL, 1, 1005, 1),
    ("late", Category.DATA, 2, 1002, 1),
]
LANES = (HOST, Lane(0, 7, "", device=True), Lane(77, 1, "worker 0"))


def made(rank: int = 0, offset: int | None = None, world: int = 1):
    counters = Table(time=np.array([1_001_000_000, 1_002_000_000]), counter=np.array(["cpu"] * 2, object), value=np.array([50.0, np.nan]))
    return recording(SPANS, [(3, 1000, 1007)], lanes=LANES, rank=rank, world_size=world, clock_offset=offset, tables={"counters": counters})


def written(path, *recordings) -> list[dict]:
    write_timeline(recordings, path)
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)["traceEvents"]


def test_it_has_steps_phases_operators_workers_and_counters(tmp_path):
    events = written(tmp_path / "trace.json.gz", made())
    spans = {event["name"]: event for event in events if event["ph"] == "X"}
    assert set(spans) == {"data wait", 'a "name"\n\u00e9', "kernel", "late", "step 3"}
    assert spans["step 3"]["dur"] == 7000
    assert spans["data wait"]["ts"] == 0
    assert spans['a "name"\n\u00e9']["ts"] == 4000.001
    titles = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert {"main", "worker 0", "stream 7", "device 0", "process 77"} <= titles
    assert [event["args"]["value"] for event in events if event["ph"] == "C"] == [50.0]


def test_all_steps_are_there_where_a_trace_within_the_window_has_only_the_first(tmp_path):
    traced = ("ProfilerStep#0", Category.STEP, 0, 40, 60)
    found = recording([traced, ("data wait", Category.PHASE, 0, 0, 40)], [(step, step * 100, step * 100 + 100) for step in range(3)])
    events = written(tmp_path / "trace.json", found)
    assert [event["name"] for event in events if event.get("cat") == "step"] == ["step 0", "step 1", "step 2"]
    (again,) = read(tmp_path / "trace.json")
    assert analyse(again).profiles[0].step_times["mean"] == pytest.approx(100)


def test_a_timeline_beside_recordings_is_none_of_them(tmp_path):
    write_timeline([made()], tmp_path / "trace.json.gz")
    (tmp_path / "theirs.json").write_text('[{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":2}]')
    assert [found.path.name for found in read(tmp_path)] == ["theirs.json"]
    assert len(read(tmp_path / "trace.json.gz")) == 1    # but who asks for it gets it


def test_ranks_are_aligned_by_the_wall_clock(tmp_path):
    events = written(tmp_path / "trace.json", made(0, offset=5_000_000, world=2), made(1, offset=8_000_000, world=2))
    starts = [event["ts"] for event in events if event["name"] == "data wait"]
    assert starts == [0, 3000]
    assert len({event["pid"] for event in events}) == 8
    assert {"rank 0: process 77", "rank 1: process 77"} <= {event["args"]["name"] for event in events if event["ph"] == "M"}


def test_ranks_without_a_common_clock_begin_together(tmp_path):
    events = written(tmp_path / "trace.json", made(0, offset=None), made(1, offset=8_000_000))
    assert [event["ts"] for event in events if event["name"] == "data wait"] == [0, 0]


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_what_is_written_can_be_analysed_again(tmp_path, name):
    first = analyse(made())
    first.write_timeline(tmp_path / name)
    again = read(tmp_path / name)[0]
    assert not again.skipped
    kinds = Counter(again.spans.category.tolist())
    assert kinds == Counter([int(span[1]) for span in SPANS] + [int(Category.STEP)])
    second = analyse(again)
    assert second.profiles[0].step_times == pytest.approx(first.profiles[0].step_times)
    assert second.profiles[0].phases["data wait"].tolist() == pytest.approx(first.profiles[0].phases["data wait"].tolist())


def test_nothing_is_a_trace_too(tmp_path):
    assert written(tmp_path / "trace.json") == []
    assert all(event["ph"] == "M" for event in written(tmp_path / "none.json", recording()))


def test_a_file_that_cannot_be_written_is_an_oserror(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_timeline([made()], tmp_path / "absent/trace.json")
