"""Worker processes when something goes wrong around them: signals, deaths, forks, too little memory, programs not made for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import psutil
import pytest
from testkit import events, records, scripts

from summarykit import Run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not scripts.HAS_WORKERS, reason="no worker processes on this system")]

# A smaller model than in the test of kills: about 8 MB a step.
START = scripts.REST + """
import sys, os, time, threading, signal
import numpy as np
from summarykit import SummaryRecord
from summarykit.writing import hired, process
process.START_BYTES = 1
hired.ANSWER_SECS = 60.0    # a busy machine may keep a worker from its work
parameters = [np.random.default_rng(0).random(size, np.float32) for size in [64] * 8 + [2_000] * 8 + [100_000] * 4 + [500_000] * 3]

def one_step(record, step, prefix=""):
    while record.stats()["waiting"] > 250:    # a busy machine: how fast it is is not what is tested
        time.sleep(0.005)
    for tag, parameter in enumerate(parameters):
        record.add_value("histogram", f"{prefix}h{tag}", parameter)
    record.add_value("tensor", prefix + "weights", np.full(10_000, step, np.float32))
    record.add_value("scalar", prefix + "loss", float(step))
    record.record(step)

def wait_for_worker(record, count=1):
    one_step(record, 0, "warm")
    deadline = time.monotonic() + 80
    while not (record._writer.desk.works.executor._crew and record._writer.desk.works.executor._crew.arrivals >= count):
        assert time.monotonic() < deadline
        time.sleep(0.005)

def worker(record):
    return record._writer.desk.works.executor._crew._hired[0].pid

record = SummaryRecord(sys.argv[1])
"""
HISTOGRAMS = 23


def expect_all(directory, steps, prefix=""):
    """Every value of every step is there once, in both formats, and every file is sound to its last byte."""
    for layout in ("mindspore", "tensorboard"):
        assert all(events.whole(path)[1] == 0 for path in events.files(directory, layout))
        found = [point for point in events.all_points(directory, layout) if not point.tag.startswith("warm")]
        counts = Counter((point.kind, point.tag, point.step) for point in found if point.tag.startswith(prefix))
        tags = [("tensor", prefix + "weights"), ("scalar", prefix + "loss")]
        tags += [("histogram", f"{prefix}h{tag}") for tag in range(HISTOGRAMS)]
        assert counts == Counter((*tag, step) for tag in tags for step in range(1, steps + 1))
        for tag in tags:
            assert [point.step for point in found if (point.kind, point.tag) == tag] == list(range(1, steps + 1)), "out of order"


def expect_some(directory, least, prefix=""):
    """What was there at a sudden end: whole steps, each value once for a reader, and the tensors hold what they held."""
    run = Run(directory)
    assert not run.damage
    steps = [point.step for point in run.histograms(f"{prefix}h22")]
    assert len(steps) == len(set(steps)) >= least
    for point in run.tensors(f"{prefix}weights"):
        assert set(point.value.data.tolist()) == {float(point.step)}


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGSTOP])
def test_workers_that_are_killed_or_stopped_cost_nothing(signum, run_script, tmp_path):
    code = f"""
from summarykit.writing import vacancies
hired.ANSWER_SECS, vacancies._BACK_OFF_SECS = 0.5, (0.0,)
wait_for_worker(record)
for step in range(1, 61):
    one_step(record, step)
    if step in (20, 40):
        wait_for_worker(record, step // 20)
        os.kill(worker(record), {int(signum)})
    time.sleep(0.005)
wait_for_worker(record, 3)
record.close()
assert record.stats()["dropped"] == {{}}, record.stats()
"""
    done = run_script(START + code, tmp_path).expect_success()
    expect_all(tmp_path, 60)
    assert done.stderr.count("a worker process ended") == 1
    done.expect_nothing_left()


def test_sigterm_to_the_whole_group_while_the_trainer_checkpoints(start_script, tmp_path):
    """Launchers signal every process of a job; the trainer saves its model for three seconds, and records on."""
    code = """
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
wait_for_worker(record)
print("ready", flush=True)
step, end = 0, None
while end is None or time.monotonic() < end:
    step += 1
    one_step(record, step)
    time.sleep(0.02)
    end = end or (time.monotonic() + 3 if stop else None)
crew = record._writer.desk.works.executor._crew
assert crew.arrivals == 1 and len(crew._hired) == 1, "the worker did not live through it"
record.close()
assert record.stats()["dropped"] == {}, record.stats()
print(step, flush=True)
"""
    script, trainer = start_script(START + code, tmp_path, start_new_session=True)
    assert trainer.stdout.readline() == "ready\n"
    time.sleep(0.2)
    for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        os.killpg(trainer.pid, signum)
    out, err = trainer.communicate(timeout=600)
    assert trainer.returncode == 0, err
    expect_all(tmp_path, int(out))
    assert scripts.wait_until_gone(script.token, 5) == []


DEATHS = {
    "os._exit": "os._exit(3)",
    "SIGKILL with a fork that holds everything": """
if os.fork() == 0:
    time.sleep(60)
os.kill(os.getpid(), signal.SIGKILL)
""",
    "segmentation fault": "signal.raise_signal(signal.SIGSEGV)",
}


@pytest.mark.parametrize("death", DEATHS)
def test_the_end_of_a_trainer_is_noticed_however_it_comes(death, start_script, tmp_path):
    """Also where it becomes a zombie that nobody waits for, or where a child of it holds the socket open."""
    code = """
wait_for_worker(record)
for step in range(1, 11):
    one_step(record, step)
    time.sleep(0.01)
rest(0.3)
one_step(record, 11)
time.sleep(0.02)
"""
    script, trainer = start_script(START + code + DEATHS[death], tmp_path)
    deadline = time.monotonic() + 60
    while psutil.Process(trainer.pid).status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.02)
    workers = [process for process in scripts.bearers(script.token) if any("boot.py" in argument for argument in process.cmdline())]
    assert psutil.wait_procs(workers, timeout=300)[1] == []
    expect_some(tmp_path, 10)


def test_a_program_that_ends_without_closing_loses_nothing(run_script, tmp_path):
    code = """
wait_for_worker(record)
for step in range(1, 31):
    one_step(record, step)
"""
    done = run_script(START + code, tmp_path).expect_success()
    expect_all(tmp_path, 30)
    assert done.stderr == ""
    done.expect_nothing_left()


def test_a_program_that_ends_by_an_exception_loses_nothing(run_script, tmp_path):
    code = """
wait_for_worker(record)
for step in range(1, 31):
    one_step(record, step)
raise SystemExit(7)
"""
    done = run_script(START + code, tmp_path)
    assert done.returncode == 7
    expect_all(tmp_path, 30)
    done.expect_nothing_left()


def test_too_little_memory_for_a_ring(run_script, tmp_path):
    """As under ``ulimit -v``: a thread does the work, which is said once."""
    code = """
import resource
from summarykit.writing import rings
rings.LEAST_RING = 64 * 2**20
threading.Thread(target=lambda: None).start()
one_step(record, 0, "warm"); process.START_BYTES = 10**9; record.flush(); process.START_BYTES = 1
record = SummaryRecord(sys.argv[1])
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 100 * 2**20
rings.LARGEST_RING = rings.LEAST_RING = 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for step in range(1, 21):
    one_step(record, step)
    record.flush()
record.close()
assert record.stats()["dropped"] == {}, record.stats()
"""
    one_arena = {"MALLOC_ARENA_MAX": "1"}    # of 64 MB each: how many there are depends on which threads meet
    done = run_script(START + code, tmp_path, env=one_arena).expect_success()
    expect_all(tmp_path, 20)
    assert done.stderr.count("no memory to share with worker processes") == 1
    assert len(done.stderr.splitlines()) == 1
    done.expect_nothing_left()


def test_an_executable_that_does_not_exist(run_script, tmp_path):
    code = """
sys.executable = "/no/such/python"
for step in range(1, 11):
    one_step(record, step)
record.close()
"""
    done = run_script(START + code, tmp_path).expect_success()
    expect_all(tmp_path, 10)
    assert done.stderr.count("/no/such/python") == 1
    assert len(done.stderr.splitlines()) == 1


PROGRAM = """
open(sys.argv[1] + "/runs", "a").write("run\\n")
wait_for_worker(record)
for step in range(1, 6):
    one_step(record, step)
record.close()
"""


def test_a_script_without_main_guard_in_a_folder_with_a_numpy_of_its_own(tmp_path):
    """The worker neither imports the script again nor takes modules from the working directory."""
    trap, run, home = tmp_path / "trap", tmp_path / "run", tmp_path / "home"
    for folder in (trap, run, home):
        folder.mkdir()
    for name in ("numpy", "socket", "pickle", "summarykit"):
        (trap / f"{name}.py").write_text(f"open({str(trap / 'fallen')!r}, 'a').write({name!r})\nraise ImportError('a trap')\n")
    (home / "train.py").write_text(START + PROGRAM)
    done = subprocess.run(
        [sys.executable, home / "train.py", run], cwd=trap, env=scripts.environment("trap"), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert not (trap / "fallen").exists()
    assert (run / "runs").read_text() == "run\n"
    expect_all(run, 5)


def test_fk1_forks_under_load(run_script, tmp_path):
    """Children record on their own, also with workers of their own; what is in the parent's ring stays the parent's."""
    code = """
wait_for_worker(record)
def produce():
    for step in range(1, 61):
        one_step(record, step)
        time.sleep(0.005)
thread = threading.Thread(target=produce); thread.start()
pids = []
for k in range(4):
    time.sleep(0.05)
    pid = os.fork()
    if pid == 0:
        signal.alarm(80)
        sockets = [fd for fd in os.listdir("/proc/self/fd") if "socket" in os.path.realpath(f"/proc/self/fd/{fd}")]
        assert record._writer.desk.works.executor._crew is None and not sockets, sockets
        for step in range(1, 6):
            one_step(record, step, f"child{k}/")
        record.close()
        os._exit(0)
    pids.append(pid)
thread.join()
codes = [os.waitpid(pid, 0)[1] for pid in pids]
assert not any(codes), codes
record.close()
assert record.stats()["dropped"] == {}, record.stats()
"""
    done = run_script(START + code, tmp_path).expect_success()
    for layout in ("mindspore", "tensorboard"):
        steps = {}
        for point in events.all_points(tmp_path, layout):
            steps.setdefault(point.tag, []).append(point.step)
        for prefix, last in [("", 60), *((f"child{k}/", 5) for k in range(4))]:
            assert all(steps[f"{prefix}h{tag}"] == list(range(1, last + 1)) for tag in range(HISTOGRAMS))
    assert "summarykit" not in done.stderr    # Python 3.12 and later warns of every fork of a process with threads
    done.expect_nothing_left()


def test_va13_arrays_are_overwritten_at_once(run_script, tmp_path):
    code = """
wait_for_worker(record)
array, picture = np.empty(200_000, np.float32), np.empty((64, 64, 3), np.uint8)
for step in range(1, 101):
    array[...] = step; picture[...] = step
    record.add_value("histogram", "h", array); record.add_value("tensor", "t", array); record.add_value("image", "i", picture)
    record.record(step)
    array[...] = -1; picture[...] = 0
record.close()
assert record.stats()["dropped"] == {}, record.stats()
"""
    run_script(START + code, tmp_path).expect_success()
    run = Run(tmp_path)
    steps = [float(step) for step in range(1, 101)]
    assert [point.value.min for point in run.histograms("h")] == [point.value.max for point in run.histograms("h")] == steps
    assert [set(point.value.data.tolist()) for point in run.tensors("t")] == [{step} for step in steps]
    assert len({point.value.encoded for point in run.images("i")}) == 100


def test_a_removed_directory_stays_removed(start_script, tmp_path):
    """The user deletes the run of a trainer that was killed: its worker makes nothing anew."""
    code = """
wait_for_worker(record)
record.flush()
os.kill(worker(record), signal.SIGSTOP)
print(worker(record), flush=True)
one_step(record, 1)
time.sleep(60)
"""
    script, trainer = start_script(START + code, tmp_path / "run")
    pid = int(trainer.stdout.readline())
    time.sleep(0.3)
    trainer.kill()
    trainer.wait()
    for path in records.record_files(tmp_path / "run"):
        path.unlink()
    (tmp_path / "run").rmdir()
    os.kill(pid, signal.SIGCONT)
    assert scripts.wait_until_gone(script.token, 5) == []
    assert not (tmp_path / "run").exists()
