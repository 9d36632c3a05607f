"""What is brought to the disk behind ``close()``, where there are too many files and too many records for that."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from summarykit.writing.durable import Durable, Unsynced
from summarykit.writing.file import RecordFile
from summarykit.writing.stats import Stats
from summarykit.writing.syncer import MOST_WAITING, Syncer

LIMIT = 100
WITHOUT_DESCRIPTORS = """
import os, resource, sys, threading
from summarykit import SummaryRecord
from summarykit.writing import durable, file

def fsync(fd):
    synced.append((os.path.basename(os.path.realpath(f"/proc/self/fd/{fd}"))[:8], threading.current_thread().name))
    os.fsync(fd)

synced = []
file.os = durable.os = type(os)("os"); file.os.__dict__.update(os.__dict__, fsync=fsync)
with SummaryRecord(sys.argv[1]) as record:
    record.add_value("scalar", "loss", 1.0)
    record.record(1)
    record.flush()
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    held = []
    try:
        while True:
            held.append(os.dup(0))
    except OSError:
        pass
for thread in threading.enumerate():
    if thread is not threading.current_thread(): thread.join()
for descriptor in held:
    os.close(descriptor)
print(any("events.out" in path for path in map(os.path.realpath, (f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd")))))
print(sorted(name for name, _ in synced))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_where_no_descriptor_is_left_a_record_ends_and_is_synced_all_the_same(tmp_path):
    command = [sys.executable, "-c", WITHOUT_DESCRIPTORS, str(tmp_path / "the_run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    assert (done.stdout.splitlines(), done.stderr) == (["False", "['events.o', 'events.o', 'the_run']"], "")


def test_syncs_go_on_after_one_whose_descriptor_somebody_closed(tmp_path, caplog, monkeypatch):
    gone, there = (RecordFile(tmp_path / name) for name in ("gone", "there"))
    syncer = Syncer()
    durable = Durable(Stats("run"), syncer, lambda: Unsynced([gone, there], [tmp_path / "never was", tmp_path]))
    gone.close()
    copies, dup = [], os.dup
    monkeypatch.setattr(os, "dup", lambda fd: copies.append(dup(fd)) or copies[-1])
    durable.sync(durable.prepare())
    there.close()
    syncer.wait(LIMIT)
    assert len(copies) == 1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(copies[0])
    assert [record.getMessage() for record in caplog.records] == [
        "run: cannot sync to the disk ([Errno 9] Bad file descriptor); training goes on"
    ]


def test_no_more_than_so_many_syncs_wait():
    syncer, go_on, done = Syncer(), threading.Event(), []
    began = threading.Event()
    syncer.ask(lambda: (began.set(), go_on.wait(LIMIT)))
    assert began.wait(LIMIT)
    for number in range(MOST_WAITING + 2):
        syncer.ask(lambda number=number: done.append((number, threading.current_thread())))
    assert done == [(number, threading.current_thread()) for number in (0, 1)]
    go_on.set()
    syncer.wait(LIMIT)
    assert [number for number, _ in done] == list(range(MOST_WAITING + 2))
