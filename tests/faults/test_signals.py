"""Signal handlers that come back into our code, or raise through it, at any moment."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from testkit import events, records

STORM = """
import os, random, signal, sys, time
from summarykit import SummaryRecord
record = SummaryRecord(sys.argv[1])
calls = seen = 0
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs Python 3.11: before, a handler may run between any two instructions")
def test_a_storm_of_signals_whose_handler_records_flushes_and_asks(run_script, tmp_path):
    """Each value comes once. Its step may be the handler's, where that calls ``record`` between the loop's two calls."""
    code = """
busy = False
def handler(number, frame):
    global calls, busy
    if busy: return    # in this handler, whose value the next one would replace
    busy = True
    calls += 1
    record.add_value("scalar", "handler", float(calls)); assert record.record(calls)
    if calls % 3 == 0: record.flush()
    if calls % 5 == 0: record.stats()
    if calls % 7 == 0: record.flush(sync=True)
    busy = False
signal.signal(signal.SIGALRM, handler)
record.add_value("scalar", "first", 0.0); record.record(0)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.003)
end = time.monotonic() + 3
while time.monotonic() < end or calls <= 100:
    seen += 1
    record.add_value("scalar", "loop", float(seen)); assert record.record(seen)
    if seen % 50 == 0: record.add_value("histogram", "h", [float(seen)]); record.record(seen)
    if seen % 100 == 0: assert record.flush()
    time.sleep(0.0002)
signal.setitimer(signal.ITIMER_REAL, 0)
record.close()
assert record.stats()["dropped"] == {} and record.stats()["waiting"] == 0, record.stats()
print(seen, calls)
"""
    done = run_script(STORM + code, tmp_path).expect_success()
    seen, calls = map(int, done.stdout.split())
    assert calls > 100
    found = events.by_tag(tmp_path)
    assert Counter(value for _, value in found["loop"]) == Counter(map(float, range(1, seen + 1)))
    assert Counter(value for _, value in found["handler"]) == Counter(map(float, range(1, calls + 1)))
    assert done.stderr == ""


def test_a_storm_of_keyboard_interrupts(run_script, tmp_path):
    """What ``record`` accepted is there once; the call that was interrupted may have recorded its value or not."""
    code = """
def handler(number, frame):
    global calls
    while frame is not None and "summarykit" not in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is not None:    # in our code, not in this script's
        calls += 1
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0013, 0.0017)
accepted, end = [], time.monotonic() + 3
while time.monotonic() < end or calls <= 100:
    try:
        seen += 1
        record.add_value("scalar", "loop", float(seen))
        if record.record(seen): accepted.append(seen)
        if seen % 10 == 0: record.flush()
    except KeyboardInterrupt:
        pass
for attempt in range(20):
    try:
        record.close()
    except KeyboardInterrupt:
        pass
signal.setitimer(signal.ITIMER_REAL, 0)
record.close()
record.flush()
print(calls, seen, len(accepted))
"""
    done = run_script(STORM + code, tmp_path).expect_success()
    calls, seen, accepted = map(int, done.stdout.split())
    assert calls > 100
    values = [value for _, value in events.both(tmp_path)]
    assert len(values) == len(set(values))
    assert values == sorted(values)
    assert accepted <= len(values) <= seen


ENDS = {
    "record, flush and close": 'record.add_value("scalar", "late", 1.0); record.record(1); record.flush(); record.close(); os._exit(4)',
    "close and exit": "record.close(); sys.exit(4)",
    "exit": "sys.exit(4)",
    "close twice": "record.close(); record.close(); os._exit(4)",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("inside", ["record", "flush", "close"])
def test_sigterm_in_the_middle_of_our_code(inside, end, start_script, tmp_path):
    """Launchers end a job so; the handler is the user's, and what it does must not wait for the call that it interrupted."""
    code = f"""
def handler(number, frame):
    {ENDS[end]}
signal.signal(signal.SIGTERM, handler)
print("ready", flush=True)
at = random.Random(sys.argv[2]).randrange(300, 600)
while True:
    seen += 1
    record.add_value("scalar", "loop", float(seen)); record.record(seen)
    if seen == at:
        print("now", flush=True)
    if {inside == "flush"}: record.flush()
    if {inside == "close"} and seen > at:
        record.close(); time.sleep(0.3)
"""
    _, process = start_script(STORM + code, tmp_path, f"{inside}{end}")
    assert process.stdout.readline() == "ready\n"
    assert process.stdout.readline() == "now\n"
    process.terminate()
    assert process.wait(90) == 4, process.stderr.read()
    values = [value for _, value in events.both(tmp_path, "loop")]
    assert values == list(map(float, range(1, len(values) + 1)))
    assert len(values) >= 300


def test_a_second_interrupt_while_the_process_ends(run_script, tmp_path):
    code = """
import threading
from summarykit.writing import file
def slow(fd, data):
    time.sleep(0.4)
    return os.write(fd, data)
file.os = type(os)("os"); file.os.__dict__.update(os.__dict__, write=slow)
for step in range(100):
    record.add_value("scalar", "loop", float(step)); record.record(step)
threading.Thread(target=lambda: (time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
raise KeyboardInterrupt
"""
    done = run_script(STORM + code, tmp_path)
    assert done.returncode == -2
    assert done.seconds < 120
    assert len(events.both(tmp_path)) == 100


def test_an_interrupt_between_a_write_and_its_count(tmp_path, monkeypatch):
    """What the system took is not written again: at the end of a process it is the calling thread that writes."""
    from summarykit.formats.chunk import chunk
    from summarykit.writing import file

    def write_and_interrupt(fd, data):
        monkeypatch.setattr(file.os, "write", write)
        write(fd, data[: len(data) // 2])
        raise KeyboardInterrupt

    write = file.os.write
    out = file.RecordFile(tmp_path / "x.tfevents")
    out.add(chunk([[records.frame(bytes([number]) * 9)] for number in range(10)]))
    monkeypatch.setattr(file.os, "write", write_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        out.push()
    out.push()
    out.close()
    assert records.payloads(out.path) == [bytes([number]) * 9 for number in range(10)]


AT_EVERY_LINE = """
OURS = tuple(f"{name}.py" for name in "threading pump buffer lifecycle writer desk turns record".split())

def interrupted(at, act):
    \"\"\"Record two steps; at one line of ours in the second comes a signal, whose handler acts. False: there is no such line.\"\"\"
    lines = 0
    other, mine = (SummaryRecord(f"{sys.argv[1]}/{name}/{at}", num_process=0) for name in ("other", "mine"))
    other.add_value("scalar", "x", 1.0); other.record(1)
    if sys.argv[2] == "second": mine.add_value("histogram", "h", [1.0, 2.0]); mine.record(1)
    def trace(frame, event, _):
        nonlocal lines
        if not frame.f_code.co_filename.endswith(OURS):
            return None
        lines += event == "line"
        if lines == at and event == "line": signal.raise_signal(signal.SIGUSR1)
        return trace
    signal.signal(signal.SIGUSR1, lambda *_: act(mine, other, at))
    sys.settrace(trace)
    mine.add_value("scalar", "a", 1.0); mine.add_value("histogram", "h", [1.0, 2.0]); mine.record(2)
    sys.settrace(None)
    for each in (mine, other):
        each.close()
        assert each.stats()["waiting"] == 0, (at, each.stats())
    return lines >= at

def flush(mine, other, at):
    assert mine.flush() and other.flush(), at

def close_other(mine, other, at):
    other.close()

def close_both(mine, other, at):
    mine.close(); other.close()

def open_another(mine, other, at):
    with SummaryRecord(f"{sys.argv[1]}/another/{at}") as another:
        another.add_value("scalar", "x", 1.0); another.record(1)
        assert another.flush(), at

act, at = globals()[sys.argv[3]], 1
while interrupted(at, act): at += 1
print(at)
"""


@pytest.mark.parametrize("act", ["flush", "close_other", "close_both", "open_another"])
@pytest.mark.parametrize("step", ["first", "second"])
def test_a_signal_at_every_line_of_a_call_that_records(step, act, run_script, tmp_path):
    """EX8. The handler waits for nothing that only the interrupted call could give; what it opens is served, what it closes is whole."""
    done = run_script(STORM + AT_EVERY_LINE, tmp_path, step, act).expect_success()
    assert int(done.stdout) > 40
    assert "did not answer" not in done.stderr
    if act != "close_both":
        assert done.stderr == ""
        for at in range(1, int(done.stdout)):
            assert events.both(tmp_path / "mine" / str(at), "a") == [(2, 1.0)]
            assert events.both(tmp_path / "other" / str(at)) == [(1, 1.0)]
            assert act != "open_another" or events.both(tmp_path / "another" / str(at)) == [(1, 1.0)]


def test_rs1_a_signal_at_every_line_while_a_resumed_run_begins(run_script, tmp_path):
    """EX8. At the end of a process the calling thread begins; the handler's values come behind, and it is begun once."""
    code = """
import atexit, os, signal, sys, threading

def handler(number, frame):
    record.add_value("scalar", "handler", 1.0)
    assert record.record(6), at
    record.flush()

def trace(frame, event, _):
    global lines
    if not frame.f_code.co_filename.endswith(("output.py", "maker.py", "file.py", "resumption.py", "writer.py", "desk.py", "turns.py")):
        return None
    lines += event == "line"
    if lines == at and event == "line": signal.raise_signal(signal.SIGUSR1)
    return trace

def late():
    global at, lines, record
    signal.signal(signal.SIGUSR1, handler)
    at = lines = 0
    while lines >= at:
        at, lines = at + 1, 0
        for resume in (None, 5):
            record = SummaryRecord(f"{sys.argv[1]}/{at}", num_process=0, resume=resume)
            sys.settrace(trace if resume else None)
            record.add_value("scalar", "loop", 1.0)
            record.record(5)
            sys.settrace(None)
            record.close()
    print(at)

atexit.register(late)
from summarykit import SummaryRecord
"""
    done = run_script(code, tmp_path).expect_success()
    assert int(done.stdout) > 40
    for at in range(1, int(done.stdout)):
        found = events.by_tag(tmp_path / str(at))
        assert found == {"loop": [(5, 1.0), (5, 1.0)], "handler": [(6, 1.0)]}, at
        starts = [events.purges(path) for path in events.files(tmp_path / str(at), "tensorboard")]
        assert starts == [[events.LAST_STEP], [events.LAST_STEP, 5]], at
