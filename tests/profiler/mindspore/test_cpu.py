"""MindSpore's operators on the CPU: its text files, and the typed records of 2.10."""

from __future__ import annotations

import csv
import gzip
import struct
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import recordings

from summarykit.profiler.intermediate import render
from summarykit.profiler.parsers import mindspore, read
from summarykit.profiler.parsers.mindspore import tlv

NO_FLOW = 2**64 - 1


def operation(start, end, texts, *, thread=7, flow=NO_FLOW, step=3, process=1, level=0):
    """One record, from the layout; no capture of it is public."""
    value = struct.pack("<5Qi3Hb3?", thread, flow, step, start, end, process, 1, 2, 3, level, False, False, False)
    value += b"".join(struct.pack("<HI", kind, len(text)) + text for kind, text in texts)
    return struct.pack("<HI", 1, len(value)) + value


def test_typed_records(tmp_path):
    content = operation(50, 80, [(14, b"Default/Mul-op1"), (13, b"Mul"), (99, b"?")], flow=5) + operation(
        10, 100, [(15, b"Kernel"), (16, b"Launch")], thread=8
    )
    (tmp_path / "mindspore.op_range").write_bytes(content)
    (recording,) = read(tmp_path)
    spans = recording.spans
    assert [spans.names[name] for name in spans.name] == ["Kernel::Launch", "Default/Mul-op1"]
    assert (spans.start.tolist(), spans.duration.tolist(), spans.correlation.tolist()) == ([10, 50], [90, 30], [-1, 5])
    assert [lane.thread for lane in spans.lanes] == [8, 7]
    assert next(iter(tlv.operations([tmp_path / "mindspore.op_range"], Counter()))).step == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (operation(1, 2, [])[:-1], "op_range is cut at the end"),
        (struct.pack("<HI", 1, 2**31), "op_range is damaged: what follows is not read"),
        (struct.pack("<HI", 1, 3) + b"abc", "operations that are too short"),
        (operation(5, 2, []), "operations without a time"),
    ],
)
def test_typed_records_that_are_none(tmp_path, content, reason):
    (tmp_path / "mindspore.op_range").write_bytes(operation(1, 2, [(14, b"a")]) + content)
    (recording,) = mindspore.parse(tmp_path)
    assert len(recording.spans) == 1
    assert recording.skipped == {reason: 1}


@given(st.binary(max_size=200))
def test_any_bytes_do_no_harm(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("any")
    for name in ("op_range", "memory_usage", "record_shapes"):
        (folder / f"mindspore.{name}").write_bytes(content)
    (folder / "cpu_op_execute_timestamp_0.txt").write_bytes(content)
    (folder / "cpu_op_detail_info_0.csv").write_bytes(content)
    recordings.expect_sound(mindspore.parse(folder))


def test_runs_of_operators(tmp_path):
    (tmp_path / "FRAMEWORK").mkdir()
    (tmp_path / "FRAMEWORK/cpu_op_execute_timestamp_0.txt").write_text(
        "Default/Mul-op1;HostCpuOps;1795981217278029355,0.003615,0 1795981217278029400,0.5,2 x,y,z\nnoise\n"
    )
    (recording,) = mindspore.parse(tmp_path)
    spans = recording.spans
    assert (spans.start.tolist(), spans.duration.tolist()) == ([1795981217278029355, 1795981217278029400], [3615, 500000])
    assert recording.skipped == {"runs of CPU operators that cannot be read": 2}


@pytest.mark.shared
def test_what_mindspore_says_of_its_operators_follows_from_their_runs(shared):
    """Of those that it lists by the name under which it ran them; for others it gives the same figure."""
    folder = shared / "data/profiler/ms2.10_cpu"
    (recording,) = mindspore.parse(folder)
    assert len(recording.spans) == 6000
    with gzip.open(folder / "cpu_op_detail_info_0.csv.gz", "rt") as stream:
        said = {row["full_op_name"]: row for row in csv.DictReader(stream)}
    files = render(recording)
    ours = {row["full_op_name"]: row for row in csv.DictReader(files["cpu_op_detail_info_0.csv"].splitlines())}
    assert len(ours) > 10
    common = [name for name in said if name in ours and int(said[name]["op_occurrences"]) == int(ours[name]["op_occurrences"])]
    assert len(common) > 5
    for name in common:
        for column in ("op_total_time(ms)", "op_avg_time(ms)"):
            assert float(ours[name][column]) == pytest.approx(float(said[name][column]), rel=1e-4), name
