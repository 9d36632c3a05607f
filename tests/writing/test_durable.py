"""What is brought to the disk behind ``close()``, where there are too many files and too many records for that."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from summarykit.writing.durable import Durable, opened
from summarykit.writing.stats import Stats
from summarykit.writing.syncer import MOST_WAITING, Syncer

LIMIT = 30
WITHOUT_DESCRIPTORS = """
import os, resource, sys
from summarykit import SummaryRecord

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
for descriptor in held:
    os.close(descriptor)
print(any("events.out" in path for path in map(os.path.realpath, (f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd")))))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_record_ends_where_no_descriptor_is_left_for_its_sync(tmp_path):
    command = [sys.executable, "-c", WITHOUT_DESCRIPTORS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_descriptors_that_cannot_be_had_are_left_out(tmp_path):
    (tmp_path / "there").touch()
    found = opened([lambda: os.open(tmp_path / "gone", os.O_RDONLY), lambda: os.open(tmp_path / "there", os.O_RDONLY)])
    assert len(found) == 1
    os.close(found[0])


def test_syncs_go_on_after_one_whose_descriptors_somebody_closed(tmp_path):
    syncer = Syncer()
    durable = Durable(Stats("run"), syncer, list)
    gone, there = os.open(tmp_path, os.O_RDONLY), os.open(tmp_path, os.O_RDONLY)
    os.close(gone)
    for descriptor in (gone, there):
        durable.sync([descriptor])
        syncer.wait(LIMIT)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(there)


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
