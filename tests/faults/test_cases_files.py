"""Files: names that never collide, stamps that only rise, rotation that goes on, few bytes and few system calls."""

from __future__ import annotations

import os
import re
import time

import pytest
from testkit import events, records

from summarykit import Run, SummaryRecord
from summarykit.writing.maker import FileMaker

STAMP = re.compile(r"(?:summary|tfevents)\.(\d+)\.")


def fill(record, start, stop, tag="loss"):
    for step in range(start, stop):
        record.add_value("scalar", tag, float(step))
        assert record.record(step)


def stamps(directory, layout="mindspore"):
    return [STAMP.search(path.name)[1] for path in events.files(directory, layout)]


def test_fi1_two_writers_in_one_directory_in_one_second(tmp_path):
    with SummaryRecord(tmp_path) as first, SummaryRecord(tmp_path) as second:
        fill(first, 0, 10, "a")
        fill(second, 0, 10, "b")
        fill(first, 10, 20, "a")
    assert {tag: len(points) for tag, points in events.by_tag(tmp_path).items()} == {"a": 20, "b": 10}
    assert len(records.record_files(tmp_path)) == 4


def test_fi2_eight_processes_in_one_directory(start_script, tmp_path):
    code = """
import sys, time
from summarykit import SummaryRecord
while time.time() < float(sys.argv[3]): pass
with SummaryRecord(sys.argv[1]) as record:
    for step in range(50):
        record.add_value("scalar", sys.argv[2], float(step)); record.record(step)
"""
    at = time.time() + 2.0
    processes = [start_script(code, tmp_path, f"process{k}", at)[1] for k in range(8)]
    assert [process.wait(150) for process in processes] == [0] * 8
    assert events.by_tag(tmp_path) == {f"process{k}": [(s, float(s)) for s in range(50)] for k in range(8)}
    assert sum(len(series) for series in (Run(tmp_path).scalars(f"process{k}") for k in range(8))) == 400


def test_fi6_rotation_at_4_kib_keeps_all_in_order(tmp_path):
    with SummaryRecord(tmp_path, max_file_size=4096) as record:
        fill(record, 0, 2000)
    paths = records.record_files(tmp_path)
    assert all(path.stat().st_size <= 4096 for path in paths)
    assert len(paths) > 20
    assert events.both(tmp_path) == [(step, float(step)) for step in range(2000)]
    assert stamps(tmp_path) == stamps(tmp_path, "tensorboard") == sorted(set(stamps(tmp_path)))
    series = Run(tmp_path).scalars("loss")
    assert series.value.tolist() == list(range(2000))


def test_fi6_a_value_larger_than_any_file_lies_alone_in_one(tmp_path):
    with SummaryRecord(tmp_path, max_file_size=4096) as record:
        fill(record, 0, 10)
        record.add_value("tensor", "big", [0.5] * 5000)
        record.record(10)
        record.flush()
        fill(record, 11, 20)
        assert record.flush()
        assert record.stats()["dropped"] == {}
    kinds = [{point.kind for point in events.points(path)} for path in events.files(tmp_path, "mindspore")]
    assert kinds == [{"scalar"}, {"tensor"}, {"scalar"}]
    assert kinds == [{point.kind for point in events.points(path)} for path in events.files(tmp_path, "tensorboard")]
    records.check_directory(tmp_path)


@pytest.mark.parametrize("size", [1, 100, 300])
def test_fi6_a_size_below_that_of_an_empty_file(size, tmp_path):
    with SummaryRecord(tmp_path, max_file_size=size) as record:
        fill(record, 0, 5)
    assert events.both(tmp_path) == [(step, float(step)) for step in range(5)]
    assert len(records.record_files(tmp_path)) > 2


def test_fi6_names_of_rotated_files_are_twins(tmp_path):
    with SummaryRecord(tmp_path, "mine", "_end", max_file_size=1000) as record:
        fill(record, 0, 100)
    ours = {path.name.removeprefix("mine.out.events.summary.").removesuffix("_end") for path in events.files(tmp_path, "mindspore")}
    theirs = {path.name.removeprefix("mine.out.tfevents.") for path in events.files(tmp_path, "tensorboard")}
    assert ours == theirs
    assert len(ours) > 3


def test_fi9_few_open_calls_and_few_bytes(tmp_path, monkeypatch):
    """Each directory listing, which ``os.open`` does not see, comes once per file."""
    opened = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda *args, **keywords: opened.append(str(args[0])) or real(*args, **keywords))
    for exact, spare in ((0.5, 0), (0.1, 10)):
        opened.clear()
        directory = tmp_path / str(exact)
        with SummaryRecord(directory) as record:
            for step in range(1000):
                record.add_value("scalar", "train/loss", step + exact)
                record.record(step)
        ours = [path for path in opened if path.startswith(str(directory))]    # records of earlier tests may still be synced
        assert len(ours) <= 20, ours
        for path in records.record_files(directory):
            opening = 400    # version, origin, session start
            assert path.stat().st_size - opening <= 1000 * (60 + spare)


def test_stamps_rise_where_the_clock_was_set_back(tmp_path):
    """MindInsight compares stamps as text, and purges by them."""
    (tmp_path / "events.out.events.summary.4000000000.0.host.1.000000_MS").write_bytes(b"")
    (tmp_path / "other.out.tfevents.4000000005.host").write_bytes(b"")
    (tmp_path / "short.out.events.summary.99.0.host").write_bytes(b"")
    for _ in range(2):
        with SummaryRecord(tmp_path, max_file_size=1000) as record:
            fill(record, 0, 30)
    found = [int(stamp) for stamp in stamps(tmp_path) if int(stamp) > 4_000_000_000]
    assert found == list(range(4_000_000_006, 4_000_000_006 + len(found)))
    assert len(found) >= 4
    assert events.by_tag(tmp_path) == {"loss": [(step, float(step)) for step in range(30)] * 2}


def test_a_stamp_that_can_rise_no_more(tmp_path):
    (tmp_path / "x.out.tfevents.9999999999.host").write_bytes(b"")
    with SummaryRecord(tmp_path, max_file_size=1000) as record:
        fill(record, 0, 100)
        assert record.flush()
    assert all(len(stamp) == 10 for stamp in stamps(tmp_path))
    assert sorted(events.both(tmp_path)) == [(step, float(step)) for step in range(100)]


def test_a_name_that_somebody_else_has_taken(tmp_path, monkeypatch):
    """Two machines with one host name and equal numbers: the file of the other is never written to."""
    taken = []

    def create(self, stem, files):
        if not taken:
            for layout in self._formats[1:]:
                path = tmp_path / layout.file_name(self._options.prefix, stem, self._options.suffix)
                path.write_bytes(b"")
                taken.append(path)
        real(self, stem, files)

    real = FileMaker._create
    monkeypatch.setattr(FileMaker, "_create", create)
    with SummaryRecord(tmp_path) as record:
        fill(record, 0, 10)
    assert taken[0].read_bytes() == b""
    taken[0].unlink()
    assert events.both(tmp_path) == [(step, float(step)) for step in range(10)]
    assert len(records.record_files(tmp_path)) == 2


def test_one_format_alone(tmp_path):
    for name in events.SCALAR:
        with SummaryRecord(tmp_path / name, formats=(name,), max_file_size=2000) as record:
            fill(record, 0, 100)
            record.add_value("histogram", "h", [1.0])
            record.record(100)
        assert {events.format_of(path) for path in records.record_files(tmp_path / name)} == {name}
        assert len(events.scalars(tmp_path / name, "loss", name)) == 100


def test_flush_with_sync_reaches_rotated_files_too(tmp_path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.readlink(f"/proc/self/fd/{fd}")) or real(fd))
    with SummaryRecord(tmp_path, max_file_size=1000) as record:
        fill(record, 0, 100)
        assert record.flush(sync=True)
        paths = set(record.stats()["files"])
        assert len(paths) > 4
        assert paths <= set(synced)
        assert str(tmp_path) in synced
        synced.clear()
        assert record.flush(sync=True)
        assert paths & set(synced) == set(record.stats()["files"][-2:])
