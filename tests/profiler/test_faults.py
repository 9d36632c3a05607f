"""A process that is killed in an open window, a disk that is full, a fork: what is there is read, and the training goes on."""

from __future__ import annotations

import pytest

from summarykit import Profiler
from summarykit.profiler.parsers import read

KILLED = """
import os, signal, sys, time
from summarykit import Profiler
profiler = Profiler(sys.argv[1], collectors=["stacks"])
for step in range(100):
    with profiler.phase("forward"):
        pass
    profiler.step()
window = profiler.windows[0]
def reached_the_file():
    with window._store._lock:    # nothing is on its way from the tape to the file
        return not window._tape.spans and not window._tape.steps
deadline = time.monotonic() + 100
while not reached_the_file() and time.monotonic() < deadline:
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_in_an_open_window_leaves_what_was_written(run_script, tmp_path):
    done = run_script(KILLED, tmp_path)
    assert done.returncode == -9
    (recording,) = read(tmp_path)
    assert recording.tables["steps"]["step"].tolist() == list(range(1, 101))
    assert recording.meta["complete"] is False
    assert not recording.skipped
    (profile,) = Profiler.offline(tmp_path).profiles
    assert profile.recording.tables["steps"].rows == 100


FULL = """
import resource, signal, sys
from summarykit import Profiler
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, resource.RLIM_INFINITY))
profiler = Profiler(sys.argv[1], collectors=[])
store = profiler.windows[0]._store
for round in range(10):
    for step in range(1000):
        profiler.step()
    store.drain()
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))    # there is room again
profiler.step()
profiler.stop()
"""


def test_a_full_disk_is_counted_and_said_once_and_recording_resumes(run_script, tmp_path):
    done = run_script(FULL, tmp_path).expect_success()
    assert done.stderr.count("cannot write") == 1
    assert "training goes on" in done.stderr
    (recording,) = read(tmp_path)
    steps = recording.tables["steps"]["step"].tolist()
    kept = len(steps) - 1
    assert kept >= 1000
    assert steps == [*range(1, kept + 1), 10_001]
    assert recording.meta["lost"] == {"File too large": 10_000 - kept}
    assert recording.skipped == {"not written: File too large": 10_000 - kept}
    assert recording.meta["complete"]


FORKED = """
import builtins, os, sys, threading
from summarykit import Profiler
from summarykit.training.marks import unwatched
profiler = Profiler(sys.argv[1])
original = builtins.print.__wrapped__
profiler.step()
child = os.fork()
if child == 0:
    assert profiler.step is unwatched and not profiler.recording
    assert builtins.print is original
    assert threading.active_count() == 1
    with Profiler(sys.argv[1] + "/child", collectors=[]) as own:
        own.step()
        own.step()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
profiler.step()
profiler.stop()
"""


def test_a_forked_child_has_nothing_to_do_with_the_window(run_script, tmp_path):
    run_script(FORKED, tmp_path).expect_success()
    found = read(tmp_path)
    assert [recording.tables["steps"]["step"].tolist() for recording in found] == [[1, 2], [1, 2]]
    assert all(recording.meta["complete"] and not recording.skipped for recording in found)


def test_a_directory_that_vanishes_is_said(tmp_path, caplog):
    import shutil

    profiler = Profiler(tmp_path / "gone", collectors=[])
    shutil.rmtree(tmp_path / "gone")
    profiler.step()
    profiler.stop()    # the open file takes it all: nothing to complain of
    assert "Traceback" not in caplog.text


def test_a_collector_that_fails_costs_only_itself(tmp_path, caplog, monkeypatch):
    from summarykit.profiler.collectors.system import System

    def fail(self: object) -> None:
        raise OSError("no /proc here")

    monkeypatch.setattr(System, "start", fail)
    with Profiler(tmp_path, collectors=["system", "gc"]) as profiler:
        profiler.step()
    assert "collector 'system' failed to start" in caplog.text
    assert read(tmp_path)[0].tables["steps"].rows == 1


@pytest.mark.parametrize("keep", ["oldest", "newest"])
def test_a_look_that_fails_ends_only_that_look(tmp_path, caplog, monkeypatch, keep):
    import time

    from summarykit.profiler.collectors.stacks import Stacks

    def fail(self: object) -> None:
        raise RuntimeError("odd frames")

    monkeypatch.setattr(Stacks, "tick", fail)
    with Profiler(tmp_path, collectors=["stacks"], keep=keep) as profiler:
        deadline = time.monotonic() + 100
        while "'stacks' failed" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.01)
        profiler.step()
    assert "'stacks' failed and is off" in caplog.text
    assert read(tmp_path)[0].tables["steps"].rows == 1
