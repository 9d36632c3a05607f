"""Forked and spawned children, threads, DataLoader workers: each process has files of its own; nobody hangs, nothing comes twice."""

from __future__ import annotations

from collections import Counter

import pytest
from testkit import events, records
from testkit.scripts import REST

from summarykit import Run

START = REST + """
import sys, os, time, threading, signal, pickle, warnings
warnings.simplefilter("ignore", DeprecationWarning)    # Python 3.12 says it of every fork beside a thread
from summarykit import SummaryRecord, SummaryWriter

def fill(record, tag, count, start=0):
    for step in range(start, start + count):
        record.add_value("scalar", tag, float(step))
        assert record.record(step)

def child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(80)
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid

def wait(*pids):
    codes = [os.waitpid(pid, 0)[1] for pid in pids]
    assert not any(codes), codes

record = SummaryRecord(sys.argv[1])
"""


def series(count, start=0):
    return [(step, float(step)) for step in range(start, start + count)]


def test_fk1_children_record_through_the_inherited_writer(run_script, tmp_path):
    code = """
fill(record, "parent", 1); record.flush()
def work(k):
    fill(record, f"child{k}", 200); record.close()
pids = [child(lambda: work(k)) for k in range(2)]
fill(record, "parent", 200, start=1)
wait(*pids)
record.close()
"""
    done = run_script(START + code, tmp_path).expect_success()
    assert events.by_tag(tmp_path) == {"parent": series(201), "child0": series(200), "child1": series(200)}
    assert len(records.record_files(tmp_path)) == 6
    assert done.stderr == ""


def test_forks_while_the_pump_is_writing(run_script, tmp_path):
    """What the parent has in its buffer at the fork is the parent's alone."""
    code = """
def produce():
    for step in range(6_000):
        record.add_value("scalar", "parent", float(step)); record.record(step)
        if step % 1000 == 0:
            record.add_value("histogram", "h", [float(step)]); record.record(step)
thread = threading.Thread(target=produce); thread.start()
pids = []
for k in range(8):
    pids.append(child(lambda: (fill(record, f"child{k}", 20), record.close())))
    time.sleep(0.02)
thread.join()
wait(*pids)
assert record.stats()["dropped"] == {}
"""
    run_script(START + code, tmp_path).expect_success()
    counts = Counter((p.kind, p.tag, p.step) for p in events.all_points(tmp_path))
    assert set(counts.values()) == {1}
    assert events.by_tag(tmp_path) == {"parent": series(6_000), **{f"child{k}": series(20) for k in range(8)}}


def test_a_fork_of_a_fork_and_a_fork_in_a_thread(run_script, tmp_path):
    code = """
def deeper():
    fill(record, "child", 10)
    wait(child(lambda: (fill(record, "grandchild", 10), record.flush())))
    fill(record, "child", 10, start=10)
    record.close()
fill(record, "parent", 10)
pids = []
def in_thread():
    fill(record, "thread", 10)
    pids.append(child(deeper))
threads = [threading.Thread(target=in_thread)]
threads[0].start(); threads[0].join()
wait(*pids)
fill(record, "parent", 10, start=10)
"""
    run_script(START + code, tmp_path).expect_success()
    assert events.by_tag(tmp_path) == {"parent": series(20), "child": series(20), "grandchild": series(10), "thread": series(10)}


def test_a_child_that_ends_without_any_handler(run_script, tmp_path):
    """``os._exit`` in a child loses at most what is younger than the flush interval, and nothing of the parent's."""
    code = """
fill(record, "parent", 100)
def work():
    fill(record, "child", 100); rest(0.3); fill(record, "late", 1)
wait(child(work))
fill(record, "parent", 100, start=100)
"""
    run_script(START + code, tmp_path).expect_success()
    assert events.scalars(tmp_path, "parent") == series(200)
    assert events.scalars(tmp_path, "child") == series(100)


def test_a_child_neither_flushes_nor_closes_what_is_its_parents(run_script, tmp_path):
    code = """
record.add_value("scalar", "pending", 1.0)
fill(record, "parent", 100)
def work():
    assert record.stats()["recorded"] == 0
    assert record.flush() and record.path is None
    fill(record, "child", 1)    # what the parent had added is not part of it
    record.close()
    assert not record.record(2)
wait(child(work))
assert record.record(100)
assert record.flush() and record.stats()["recorded"] == 101, record.stats()
"""
    run_script(START + code, tmp_path).expect_success()
    assert events.by_tag(tmp_path) == {"parent": series(100), "pending": [(0, 1.0)], "child": series(1)}


def test_a_child_of_a_closed_record(run_script, tmp_path):
    code = """
fill(record, "parent", 10); record.close()
def work():
    record.add_value("scalar", "child", 1.0); assert record.record(1) is False
    begun = time.monotonic(); record.flush(); record.close(); assert time.monotonic() - begun < 60
wait(child(work))
"""
    run_script(START + code, tmp_path).expect_success()
    assert events.both(tmp_path) == series(10)


def test_a_child_of_a_resumed_run_does_not_hide_its_parents_points(run_script, tmp_path):
    """It was the parent that resumed at step 100: a child's file that said so again would hide what the parent recorded since."""
    code = """
record = SummaryRecord(sys.argv[1], resume=100)
fill(record, "parent", 20, start=100); record.flush()
again = pickle.loads(pickle.dumps(record))
fill(again, "copy", 1, start=100); again.close()
wait(child(lambda: (fill(record, "child", 1, start=100), record.close())))
"""
    run_script(START + code, tmp_path).expect_success()
    purges = {path.name: events.purges(path) for path in events.files(tmp_path, "tensorboard")}
    assert sorted(purges.values(), key=len) == [[events.LAST_STEP], [events.LAST_STEP], [events.LAST_STEP, 100]]


@pytest.mark.parametrize("way", ["fork", "copy"])
def test_fk1_one_that_adds_to_a_resumed_run_before_it_has_begun(way, run_script, tmp_path):
    """It says that everything from step 100 on is new; files of the original that said so again would hide its points."""
    ways = {
        "fork": 'wait(child(lambda: (fill(record, "other", 1, start=100), record.close())))',
        "copy": 'again = pickle.loads(pickle.dumps(record)); fill(again, "other", 1, start=100); again.close()',
    }
    code = f"""
fill(record, "old", 2, start=99); record.close()
record = SummaryRecord(sys.argv[1], resume=100)
{ways[way]}
fill(record, "original", 1, start=100); record.close()
"""
    run_script(START + code, tmp_path).expect_success()
    run = Run(tmp_path)
    assert {tag: run.scalars(tag).step.tolist() for tag in ("old", "other", "original")} == {"old": [99], "other": [100], "original": [100]}
    purges = [events.purges(path) for path in events.files(tmp_path, "tensorboard")]
    assert purges == [[events.LAST_STEP], [events.LAST_STEP, 100], [events.LAST_STEP]]


def test_fk1_children_that_come_to_a_resumed_run_at_the_same_moment(run_script, tmp_path):
    """Through a record, and to runs below a writer: one of them says what is new, in TensorBoard's file too, and all points count."""
    code = """
from summarykit.writing import resumption
resumption.ALONE_SECS = 60.0    # a busy machine may hold up who begins
fill(record, "old", 10); record.close()
earlier = SummaryWriter(sys.argv[2], add_scalars_as="runs")
for step in range(10): earlier.add_scalars("loss", {"a": 1.0}, step)
earlier.close()
record = SummaryRecord(sys.argv[1], resume=5)
writer = SummaryWriter(sys.argv[2], purge_step=5, add_scalars_as="runs")
start, begin = os.pipe()
def work(k):
    os.close(begin); os.read(start, 1)    # ends for all at once
    fill(record, f"child{k}", 3, start=5); record.close()
    writer.add_scalars("loss", {"a": 2.0}, 5 + k); writer.close()
pids = [child(lambda: work(k)) for k in range(6)]
os.close(begin)
wait(*pids)
"""
    run_script(START + code, tmp_path / "record", tmp_path / "curves").expect_success()
    run, curve = Run(tmp_path / "record"), Run(tmp_path / "curves/loss_a")
    assert run.scalars("old").step.tolist() == [0, 1, 2, 3, 4]
    assert [run.scalars(f"child{k}").step.tolist() for k in range(6)] == [[5, 6, 7]] * 6
    assert curve.scalars("loss").step.tolist() == list(range(11))
    assert curve.scalars("loss").value.tolist() == [1.0] * 5 + [2.0] * 6
    for directory in (run.path, curve.path):
        purges = [events.purges(path) for path in events.files(directory, "tensorboard")]
        assert purges == [[events.LAST_STEP], [events.LAST_STEP, 5]] + [[events.LAST_STEP]] * 5


def test_fk1_without_locks_two_may_say_what_is_new_and_hide_nothing_of_each_other(run_script, tmp_path):
    """A file system may have none, and then each of two that look at the same moment finds itself to be the first."""
    code = """
from summarykit.writing.resumption import Resumption
fill(record, "old", 10); record.close()
record = SummaryRecord(sys.argv[1], resume=5)
Resumption.begins = lambda *_: True
for k in range(2):
    wait(child(lambda: (fill(record, f"child{k}", 3, start=5), record.close())))
record.close()
record = SummaryRecord(sys.argv[1], resume=7)    # who comes later supersedes both
fill(record, "later", 1, start=7)
"""
    run_script(START + code, tmp_path).expect_success()
    run = Run(tmp_path)
    found = {tag: run.scalars(tag).step.tolist() for tag in run.tags()["scalar"]}
    assert found == {"old": [0, 1, 2, 3, 4], "child0": [5, 6], "child1": [5, 6], "later": [7]}


def test_fk1_children_of_a_program_that_closed_all_its_descriptors(run_script, tmp_path):
    code = """
other = SummaryRecord(sys.argv[1])
fill(record, "parent", 1); fill(other, "other", 1); record.flush(); other.flush()
os.closerange(3, 100)
def work():
    fill(record, "child", 5); fill(other, "other child", 5)
    assert record.flush() and other.flush()
wait(child(work))
fill(record, "parent", 5, start=1); record.close()
"""
    done = run_script(START + code, tmp_path).expect_success()
    assert "Exception ignored" not in done.stderr
    assert events.by_tag(tmp_path) == {"parent": series(5 + 1), "other": series(1), "child": series(5), "other child": series(5)}


def test_fk1_one_that_was_stopped_while_it_began_does_not_stop_others(run_script, tmp_path):
    code = """
import fcntl
fill(record, "old", 10); record.close()
record = SummaryRecord(sys.argv[1], resume=5)
stopped = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(stopped, fcntl.LOCK_EX)
fill(record, "new", 3, start=5)
assert record.flush() and record.stats()["written"] == 3
"""
    run_script(START + code, tmp_path).expect_success()
    assert Run(tmp_path).scalars("old").step.tolist() == [0, 1, 2, 3, 4]
    assert Run(tmp_path).scalars("new").step.tolist() == [5, 6, 7]


TARGETS = """
def work(record, tag, count):
    for step in range(count):
        record.add_value("scalar", tag, float(step))
        assert record.record(step)

def work_and_leave_daemon(record, tag, count):
    import time
    work(record, tag, count)
    time.sleep(60)
"""


@pytest.fixture
def targets(tmp_path):
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "targets.py").write_text(TARGETS)
    return f"import sys; sys.path.insert(0, {str(folder)!r}); import multiprocessing, targets\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_fk3_children_of_multiprocessing(method, targets, run_script, tmp_path):
    code = f"""
context = multiprocessing.get_context({method!r})
fill(record, "parent", 10)
processes = [context.Process(target=targets.work, args=(record, f"child{{k}}", 10)) for k in range(2)]
for process in processes: process.start()
fill(record, "parent", 10, start=10)
for process in processes:
    process.join(80); assert process.exitcode == 0, process.exitcode
"""
    done = run_script(targets + START + code, tmp_path / "run").expect_success()
    assert events.by_tag(tmp_path / "run") == {"parent": series(20), "child0": series(10), "child1": series(10)}
    done.expect_nothing_left()


def test_fk3_a_pickled_record_keeps_its_arguments(tmp_path):
    import pickle

    from summarykit import SummaryRecord

    with SummaryRecord(tmp_path, "mine", max_file_size=5000, formats=("tensorboard",), rank=2, on_full="drop") as record:
        again = pickle.loads(pickle.dumps(record))
        again.add_value("scalar", "x", 1)
        assert again.record(1)
        again.close()
        assert again.log_dir == record.log_dir == str(tmp_path / "rank_2")
        assert "mine.out.tfevents" in again.path
        assert record.path is None


def test_daemon_processes_and_pools(targets, run_script, tmp_path):
    """A daemon is killed when its parent ends: what it recorded before the flush interval is there."""
    code = """
context = multiprocessing.get_context("fork")
daemon = context.Process(target=targets.work_and_leave_daemon, args=(record, "daemon", 10), daemon=True); daemon.start()
with context.Pool(2) as pool:
    pool.starmap(targets.work, [(record, f"pool{k}", 10) for k in range(4)])
    pool.close(); pool.join()
rest(0.5)
"""
    done = run_script(targets + START + code, tmp_path / "run").expect_success()
    for tag in ("daemon", "pool0", "pool1", "pool2", "pool3"):
        assert events.scalars(tmp_path / "run", tag) == series(10), tag
    done.expect_nothing_left()


def test_fk2_workers_of_a_dataloader(run_script, tmp_path):
    pytest.importorskip("torch")
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "data.py").write_text("""
class Numbers:
    def __init__(self, record): self.record = record
    def __len__(self): return 16
    def __getitem__(self, index):
        self.record.add_value("scalar", "item", float(index))
        assert self.record.record(index)
        return index
""")
    code = f"""
sys.path.insert(0, {str(folder)!r})
import data
from torch.utils.data import DataLoader
fill(record, "parent", 5)
loader = DataLoader(data.Numbers(record), num_workers=2, batch_size=2)
assert sum(len(batch) for batch in loader) == 16
fill(record, "parent", 5, start=5)
"""
    done = run_script(START + code, tmp_path / "run").expect_success()
    found = events.by_tag(tmp_path / "run")
    assert sorted(found["item"]) == series(16)
    assert found["parent"] == series(10)
    done.expect_nothing_left()


def test_fk6_eight_threads_through_one_writer(run_script, tmp_path):
    code = """
threads = [threading.Thread(target=fill, args=(record, f"thread{k}", 1000)) for k in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    run_script(START + code, tmp_path).expect_success()
    assert events.by_tag(tmp_path) == {f"thread{k}": series(1000) for k in range(8)}


def test_a_fork_while_another_thread_imports_a_kind(run_script, tmp_path):
    """The child would wait for ever for a module that nobody in it goes on to import."""
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from summarykit.registry import Registry
things = Registry("things", {{"slow": "slow_module:THING"}})
thread = threading.Thread(target=things.get, args=("slow",)); thread.start()
time.sleep(0.2)    # the import is under way now
wait(child(lambda: things.get("slow")))
thread.join()
"""
    (tmp_path / "slow_module.py").write_text("import time; time.sleep(0.7); THING = 1")
    run_script(START + code, tmp_path / "run").expect_success()


def test_a_child_that_goes_on_as_a_program_of_its_own(run_script, tmp_path):
    """It ends through the interpreter's own exit, and so does its parent; neither closes anything."""
    code = """
fill(record, "parent", 50)
pid = os.fork()
if pid == 0:
    fill(record, "child", 50)
    sys.exit(3)
fill(record, "parent", 50, start=50)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
"""
    run_script(START + code, tmp_path).expect_success()
    assert events.by_tag(tmp_path) == {"parent": series(100), "child": series(50)}
