"""Processes that are killed: what is older than a quarter of a second is there; torn tails that they left are cut by the next run."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading

import pytest
from testkit import events, records
from testkit.scripts import REST

from summarykit import Run, SummaryRecord
from summarykit.clock import Process
from summarykit.formats.origin import Origin

RECORD = REST + """
import sys, os, time, signal
from summarykit import SummaryRecord
record = SummaryRecord(sys.argv[1])
for step in range(int(sys.argv[2])):
    record.add_value("scalar", "loss", float(step)); record.record(step)
"""


def test_cr1_sigkill_costs_nothing_that_is_half_a_second_old(run_script, tmp_path):
    done = run_script(RECORD + "rest(0.5); os.kill(os.getpid(), signal.SIGKILL)", tmp_path, 1000)
    assert done.returncode == -9
    assert events.both(tmp_path) == [(step, float(step)) for step in range(1000)]
    done.expect_nothing_left()


def cut(paths, bytes_):
    for path in paths:
        with open(path, "r+b") as file:
            file.truncate(path.stat().st_size - bytes_)


@pytest.mark.parametrize("bytes_", [1, 7, 30])
def test_cr6_the_torn_tail_of_a_dead_run_is_cut_by_the_next(bytes_, run_script, tmp_path):
    run_script(RECORD, tmp_path, 2_000).expect_success()
    first = set(records.record_files(tmp_path))
    cut(first, bytes_)
    run_script(RECORD, tmp_path, 100).expect_success()
    assert {path: len(records.payloads(path)) - (2 if "tfevents" in path.name else 1) for path in first} == dict.fromkeys(first, 1_999)
    assert events.both(tmp_path) == [(s, float(s)) for s in range(1_999)] + [(s, float(s)) for s in range(100)]
    assert len(Run(tmp_path, raw=True).scalars("loss")) == 2_099
    assert not Run(tmp_path).damage


def test_a_long_last_record_is_cut_too(run_script, tmp_path):
    code = """
import numpy as np
record.add_value("tensor", "weights", np.zeros(100_000)); record.record(1)
"""
    run_script(RECORD + code, tmp_path, 10).expect_success()
    whole = records.check_directory(tmp_path)
    open_again(tmp_path)
    assert {name: records.check_directory(tmp_path)[name] for name in whole} == whole
    cut([tmp_path / name for name in whole], 7)
    open_again(tmp_path)
    assert all(records.check_directory(tmp_path)[name] == count - 1 for name, count in whole.items())


def open_again(directory):
    with SummaryRecord(directory) as record:
        record.add_value("scalar", "again", 1.0)
        record.record(1)


def test_the_torn_tail_of_a_live_writer_is_never_touched(start_script, tmp_path):
    _, process = start_script(RECORD + "record.flush(); print('ready', flush=True); time.sleep(60)", tmp_path, 10)
    assert process.stdout.readline() == "ready\n"
    expect_untouched(tmp_path, records.record_files(tmp_path))


def test_our_own_live_files_are_never_touched(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "x", 1.0)
        record.record(1)
        record.flush()
        expect_untouched(tmp_path, records.record_files(tmp_path))


def dead_process():
    """This machine's view of a process that has just ended."""
    finished = subprocess.Popen([sys.executable, "-c", ""])
    finished.wait()
    return dataclasses.replace(Process.current(), pid=finished.pid, start=12345)


ELSEWHERE = {
    "another boot": {"boot": "00000000-0000-0000-0000-000000000000"},
    "no boot known": {"boot": ""},
    "another pid namespace": {"pid_namespace": 1},
    "another host": {"host": "elsewhere"},
    "no start known": {"start": 0},
}


def foreign_file(directory, payload, name):
    path = directory / name
    path.write_bytes(records.frame(payload) + records.frame(b"\x10\x01"))
    return path


def version(process):
    return b"\x1a\x0dbrain.Event:2" + Origin("0" * 32, 0, process).encode()


NAME = "events.out.tfevents.1700000000.0.host.4.000000"


def test_the_crafted_file_of_a_dead_writer_is_cut(tmp_path):
    """Else the tests below, of files that are not cut, would prove nothing."""
    path = foreign_file(tmp_path, version(dead_process()), NAME)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:9])
    open_again(tmp_path)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("where", ELSEWHERE)
def test_the_torn_tail_of_a_writer_that_may_live_elsewhere_is_never_touched(where, tmp_path):
    process = dataclasses.replace(dead_process(), **ELSEWHERE[where])
    expect_untouched(tmp_path, [foreign_file(tmp_path, version(process), NAME)])


def test_files_of_others_are_never_touched(tmp_path):
    torch = foreign_file(tmp_path, b"\x1a\x0dbrain.Event:2", "events.out.tfevents.1700000000.host.4.0")
    named_like_ours = foreign_file(tmp_path, b"\x1a\x0dbrain.Event:2", NAME)
    renamed = foreign_file(tmp_path, version(dead_process()), "mine.tfevents")
    expect_untouched(tmp_path, [torch, named_like_ours, renamed])


def test_a_file_that_is_damaged_before_its_end_is_never_touched(tmp_path):
    path = foreign_file(tmp_path, version(dead_process()), NAME)
    data = bytearray(path.read_bytes() * 2)
    data[len(data) // 2 + 3] ^= 0xFF    # in the second version record's length
    path.write_bytes(data)
    expect_untouched(tmp_path, [path])


def expect_untouched(directory, paths):
    torn = {}
    for path in paths:
        with open(path, "ab") as file:
            file.write(records.frame(b"half a record")[:9])
        torn[path] = path.read_bytes()
    open_again(directory)
    assert all(path.read_bytes() == data for path, data in torn.items())
    assert torn


def test_the_first_values_do_not_wait_for_what_earlier_runs_left(tmp_path, monkeypatch):
    """On a busy machine it takes long to start a thread."""
    open_again(tmp_path)
    there, seen, start = events.both(tmp_path), [], threading.Thread.start

    def start_and_look(thread):
        if thread.name == "summarykit-tails":
            seen.append(events.both(tmp_path))
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_and_look)
    open_again(tmp_path)
    assert seen == [[*there, (1, 1.0)]]


def test_a_directory_of_sound_runs_is_not_walked_through_again_and_again(run_script, tmp_path, monkeypatch):
    """The end of a file tells whether it is whole; with many large runs a walk through each would take minutes at every start."""
    run_script(RECORD, tmp_path, 2_000).expect_success()
    calls = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda *args: calls.append(args) or real(*args))
    open_again(tmp_path)
    assert 2 <= len(calls) <= 4
