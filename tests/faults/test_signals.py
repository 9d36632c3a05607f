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
while time.monotonic() < end:
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
    done = run_script(STORM + code, tmp_path, timeout=90).expect_success()
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
while time.monotonic() < end:
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
    done = run_script(STORM + code, tmp_path, timeout=90).expect_success()
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
    assert process.wait(20) == 4, process.stderr.read()
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
    done = run_script(STORM + code, tmp_path, timeout=90)
    assert done.returncode == -2
    assert done.seconds < 40
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
