"""However a process ends, everything recorded is in the files, it ends with its own exit code, and nothing of it stays behind."""

from __future__ import annotations

import pytest
from testkit import events
from testkit.scripts import REST

RECORD = REST + """
import sys, os, time, atexit, threading, signal
from summarykit import SummaryRecord

def fill(record, start=0, stop=500, tag="loss"):
    for step in range(start, stop):
        record.add_value("scalar", tag, float(step))
        assert record.record(step)

def replace_write(write):
    '''The lowest function of the write path, and only there.'''
    from summarykit.writing import file
    file.os = type(os)("os")
    file.os.__dict__.update(os.__dict__, write=write)
"""

HANGING = """
from summarykit.writing import lifecycle
lifecycle.EXIT_SECS = 2.0
replace_write(lambda fd, data: time.sleep(3600))
"""

ENDINGS = {
    "return": ("record = SummaryRecord(sys.argv[1]); fill(record)", 0),
    "return, and the record is collected just before": ("def main(): fill(SummaryRecord(sys.argv[1]))\nmain()", 0),
    "ValueError": ("record = SummaryRecord(sys.argv[1]); fill(record); raise ValueError('mine')", 1),
    "ValueError in with": ("with SummaryRecord(sys.argv[1]) as record:\n    fill(record); raise ValueError('mine')", 1),
    "sys.exit(0)": ("record = SummaryRecord(sys.argv[1]); fill(record); sys.exit(0)", 0),
    "sys.exit(7) in with": ("with SummaryRecord(sys.argv[1]) as record:\n    fill(record); sys.exit(7)", 7),
    "KeyboardInterrupt": ("record = SummaryRecord(sys.argv[1]); fill(record); raise KeyboardInterrupt", -2),
    "KeyboardInterrupt, and all is written at the end": (
        "record = SummaryRecord(sys.argv[1], flush_secs=60); fill(record); raise KeyboardInterrupt", -2
    ),
    "close, twice": ("record = SummaryRecord(sys.argv[1]); fill(record); record.close(); record.close(); record.flush()", 0),
    "without atexit, after the flush interval": ("record = SummaryRecord(sys.argv[1]); fill(record); rest(0.3); os._exit(3)", 3),
    "killed by itself, after a flush": ("record = SummaryRecord(sys.argv[1]); fill(record); record.flush(); os.kill(os.getpid(), 9)", -9),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_ex1_ex2_everything_is_there_however_the_script_ends(ending, run_script, tmp_path):
    code, status = ENDINGS[ending]
    done = run_script(RECORD + code, tmp_path)
    assert done.returncode == status, done.stderr
    assert events.both(tmp_path) == [(step, float(step)) for step in range(500)]
    assert "summarykit" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr
    assert ("ValueError: mine" in done.stderr) == (status == 1)
    done.expect_nothing_left()


def test_ex1_ctrl_c_before_the_first_write_of_whatever_kind_ends_by_the_signal(run_script, tmp_path):
    """CPython forgets that Ctrl-C ended the program where text is executed afterwards, as by whoever makes a dataclass."""
    code = """
import numpy as np
record = SummaryRecord(sys.argv[1], flush_secs=60)
values = {"scalar": 1.0, "histogram": np.arange(9000.0), "image": np.zeros((8, 8, 3), np.uint8), "tensor": [1.0], "text": "a"}
for kind, value in {**values, "hparams": {"lr": 0.1}}.items():
    record.add_value(kind, "t", value, **({"bins": 9000} if kind == "histogram" else {}))
assert record.record(1)
raise KeyboardInterrupt
"""
    done = run_script(RECORD + code, tmp_path)
    assert done.returncode == -2, done.stderr
    assert {point.kind for point in events.all_points(tmp_path)} >= {"scalar", "histogram", "image", "tensor"}


def test_ex4_a_hundred_writers_leave_nothing(no_leftovers, tmp_path):
    from summarykit import SummaryRecord

    for number in range(100):
        with SummaryRecord(tmp_path / str(number % 10)) as record:
            record.add_value("scalar", "x", number)
            record.add_value("histogram", "h", [1.0, 2.0])
            record.record(number)
    assert sorted(value for _, value in events.both(tmp_path)) == list(range(100))


def test_ex4_a_hundred_writers_that_nobody_closes_leave_nothing(no_leftovers, tmp_path):
    from summarykit import SummaryRecord

    for number in range(100):
        record = SummaryRecord(tmp_path / str(number % 10))
        record.add_value("scalar", "x", number)
        record.record(number)
    del record
    no_leftovers.expect()
    assert sorted(value for _, value in events.both(tmp_path)) == list(range(100))


def test_ex5_a_failing_background_blocks_nobody_and_says_so_once(run_script, tmp_path):
    code = """
def refuse(fd, data): raise OSError(5, "Input/output error")
replace_write(refuse)
record = SummaryRecord(sys.argv[1])
longest = 0.0
for step in range(5000):
    begun = time.monotonic()
    record.add_value("scalar", "x", step); record.record(step)
    longest = max(longest, time.monotonic() - begun)
begun = time.monotonic()
assert record.flush() is False
longest = max(longest, time.monotonic() - begun)
assert longest < 10, longest
begun = time.monotonic()
record.close(timeout=5)
assert time.monotonic() - begun < 60
stats = record.stats()
assert stats["written"] == 0 and stats["waiting"] == 0, stats
assert stats["dropped"] == {"storage: Input/output error": 5000}, stats
"""
    done = run_script(RECORD + code, tmp_path).expect_success()
    assert done.stderr.count("cannot write") == 1, done.stderr


def test_ex8_the_users_sigterm_handler_is_called_once(start_script, tmp_path):
    code = """
def handler(number, frame):
    print("handled", flush=True)
    os._exit(5)
signal.signal(signal.SIGTERM, handler)
record = SummaryRecord(sys.argv[1]); fill(record)
rest(0.3)
print("ready", flush=True)
while True:    # one long sleep would not see a signal that comes just before it
    time.sleep(0.01)
"""
    _, process = start_script(RECORD + code, tmp_path)
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    assert process.wait(90) == 5
    assert process.stdout.read() == "handled\n"
    assert events.both(tmp_path) == [(step, float(step)) for step in range(500)]


def test_exit_handlers_that_ran_before_ours_and_run_after_ours(run_script, tmp_path):
    code = """
import atexit
def late():    # registered before the package is imported: runs last
    fill(record, 400, 500)
    record.add_value("histogram", "h", [1.0, 2.0]); record.record(500)
    assert record.flush() and record.stats()["waiting"] == 0
atexit.register(late)
""" + RECORD + """
record = SummaryRecord(sys.argv[1]); fill(record, 0, 300)
atexit.register(lambda: fill(record, 300, 400))
"""
    done = run_script(code, tmp_path).expect_success()
    assert done.stderr == ""
    assert events.both(tmp_path) == [(step, float(step)) for step in range(500)]
    assert [p.step for p in events.all_points(tmp_path) if p.kind == "histogram"] == [500]


def test_first_value_of_all_at_exit(run_script, tmp_path):
    code = "import atexit\natexit.register(lambda: fill(SummaryRecord(sys.argv[1])))\n" + RECORD
    done = run_script(code, tmp_path).expect_success()
    assert done.stderr == ""
    assert events.both(tmp_path) == [(step, float(step)) for step in range(500)]


@pytest.mark.parametrize("daemon", [False, True])
def test_a_thread_records_while_the_process_ends(daemon, run_script, tmp_path):
    """A daemon thread is cut off somewhere: what is there must be whole and in order."""
    code = f"""
record = SummaryRecord(sys.argv[1])
def work():
    for step in range(500):
        record.add_value("scalar", "loss", float(step)); record.record(step)
        time.sleep(0.0002)
threading.Thread(target=work, daemon={daemon}).start()
"""
    done = run_script(RECORD + code, tmp_path).expect_success()
    found = events.both(tmp_path)
    assert found == [(step, float(step)) for step in range(len(found))]
    assert len(found) == 500 or daemon
    assert "Traceback" not in done.stderr


def test_sys_exit_in_a_thread(run_script, tmp_path):
    code = """
record = SummaryRecord(sys.argv[1])
def work():
    fill(record); sys.exit(3)
thread = threading.Thread(target=work); thread.start(); thread.join()
fill(record, 500, 600)
"""
    run_script(RECORD + code, tmp_path).expect_success()
    assert len(events.both(tmp_path)) == 600


@pytest.mark.parametrize("call", ["flush", "close"])
def test_keyboard_interrupt_in_flush_or_close(call, run_script, tmp_path):
    """Ctrl-C comes while the call waits for a slow disk: it reaches the user, and the data reach the file."""
    code = f"""
def inside(frame):
    return frame is not None and (frame.f_code.co_name == {call!r} or inside(frame.f_back))

def slow(fd, data):
    if not struck:
        while not inside(sys._current_frames()[threading.main_thread().ident]): time.sleep(0.001)
        struck.append(True)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    time.sleep(0.2)
    return os.write(fd, data)
struck = []
replace_write(slow)
record = SummaryRecord(sys.argv[1]); fill(record)
try:
    record.{call}()
except KeyboardInterrupt:
    print("interrupted")
record.{call}()
"""
    done = run_script(RECORD + code, tmp_path).expect_success()
    assert done.stdout == "interrupted\n"
    assert events.both(tmp_path) == [(step, float(step)) for step in range(500)]


def test_storage_that_hangs_does_not_hold_up_the_end(run_script, tmp_path):
    code = HANGING + """
record = SummaryRecord(sys.argv[1]); fill(record)
begun = time.monotonic()
record.close(timeout=1.0)
assert time.monotonic() - begun < 60
assert record.stats()["waiting"] == 500, record.stats()
begun = time.monotonic()
record.add_value("scalar", "x", 1); assert not record.record(1)
record.close()
assert time.monotonic() - begun < 60
"""
    done = run_script(RECORD + code, tmp_path).expect_success()
    assert done.seconds < 120
    assert done.stderr.count("did not answer") == 1, done.stderr


def test_exit_handlers_after_ours_are_not_held_up_by_storage_that_hangs(run_script, tmp_path):
    code = """
import atexit
def late():
    begun = time.monotonic()
    fill(record, 500, 600)
    assert time.monotonic() - begun < 60
    print("late handler done")
atexit.register(late)
""" + RECORD + HANGING + """
record = SummaryRecord(sys.argv[1]); fill(record)
"""
    done = run_script(code, tmp_path).expect_success()
    assert done.stdout == "late handler done\n"


def test_one_hanging_disk_does_not_cost_the_data_for_another(run_script, tmp_path):
    code = """

def sometimes(fd, data):
    if "bad" in os.readlink(f"/proc/self/fd/{fd}"):
        time.sleep(3600)
    return os.write(fd, data)
replace_write(sometimes)
from summarykit.writing import lifecycle
lifecycle.EXIT_SECS = 2.0
hanging, good = SummaryRecord(sys.argv[1] + "/bad"), SummaryRecord(sys.argv[1] + "/good")
fill(hanging); time.sleep(0.3); fill(good)
"""
    run_script(RECORD + code, tmp_path).expect_success()
    assert len(events.both(tmp_path / "good")) == 500


@pytest.mark.parametrize("num_process", [0, 1])
def test_a_value_that_is_worked_on_while_the_process_ends_is_counted_once(num_process, run_script, tmp_path):
    """The pump is at it in the midst of a turn, and done with it only behind our exit handler."""
    code = """
import atexit
def late():
    gate.set()
    pump.join(60)
    record.add_value("scalar", "late", 2.0); assert record.record(2)
    record.close()
    stats = record.stats()
    told = stats["recorded"], stats["written"], stats["waiting"], sum(stats["dropped"].values())
    print(*told)
atexit.register(late)
""" + RECORD + """
from summarykit.kinds.histogram import HISTOGRAM
from summarykit.writing import lifecycle
lifecycle.EXIT_SECS = 2.0
gate, reduce = threading.Event(), type(HISTOGRAM).reduce
def hang_and_reduce(self, snapshot):
    gate.wait()
    return reduce(self, snapshot)
type(HISTOGRAM).reduce = hang_and_reduce
record = SummaryRecord(sys.argv[1], num_process=int(sys.argv[2]))
record.add_value("histogram", "h", [1.0]); record.record(1)
pump = next(each for each in threading.enumerate() if each.name == "summarykit-pump")
"""
    done = run_script(code, tmp_path, num_process).expect_success()
    assert done.stdout == "2 2 0 0\n"
    assert events.both(tmp_path, "late") == [(2, 2.0)]
