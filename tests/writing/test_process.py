"""The executor with worker processes: the same outcomes as a thread gives, in order, once each, whatever becomes of the workers."""

from __future__ import annotations

import errno
import gc
import logging
import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from testkit import scripts

from summarykit import Run, SummaryRecord, SummaryWriter
from summarykit.formats import FORMATS
from summarykit.kinds import KINDS
from summarykit.kinds.memory import Lending
from summarykit.writing import hired, process, rings, vacancies
from summarykit.writing.crew import Crew
from summarykit.writing.executor import perform
from summarykit.writing.job import Job, Task
from summarykit.writing.options import WriterOptions
from summarykit.writing.process import ProcessExecutor, executor_for
from summarykit.writing.records import lay_out

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no memory files"),
    pytest.mark.usefixtures("no_leftovers"),
]
LIMIT = 100.0


class Bench:
    """An executor with everything around it that a writer is to it."""

    def __init__(self, directory, **options):
        self.options = WriterOptions(directory, **options)
        self.woken, self.said = threading.Event(), []
        wake = self.woken.set
        self.executor = executor_for(self.options, wake, wake, lambda key, message, *args: self.said.append((key, message % args)))
        self.lending = Lending(self.executor.allocate)
        self.outcomes = []

    def put(self, kind, value, step=0):
        with self.lending:
            snapshot = KINDS.get(kind).snapshot(value)
        self.executor.submit(Task(Job(KINDS.get(kind), f"{kind}{step}", snapshot, snapshot.nbytes), step, time.time()))
        return self

    def collect(self, count, settle=True):
        """All outcomes up to a number of them."""
        end = time.monotonic() + LIMIT
        while len(self.outcomes) < count:
            self.outcomes += self.executor.outcomes()
            if settle:
                self.executor.settle()
            self.woken.wait(0.01)
            self.woken.clear()
            assert time.monotonic() < end, f"{len(self.outcomes)} of {count}"
        return self.outcomes

    def start_workers(self, count=1):
        """Let it begin, and wait until they are ready."""
        self.put("histogram", [1.0, 2.0]).collect(len(self.outcomes) + 1)
        wait_for(lambda: self.executor.outcomes() == [] and self.crew is not None and self.crew.arrivals >= count)
        self.outcomes.clear()
        return self

    @property
    def crew(self):
        return self.executor._crew

    @property
    def workers(self):
        return [psutil.Process(each.pid) for each in self.crew._hired]


def wait_for(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """``bench(**options)``: an executor that starts its workers with the first task."""
    monkeypatch.setattr(process, "START_BYTES", 1)
    monkeypatch.setattr(hired, "ANSWER_SECS", LIMIT)    # a busy machine may keep a worker from its work
    made = []

    def make(**options):
        made.append(Bench(tmp_path, **options))
        return made[-1]

    yield make
    for each in made:
        each.executor.close()


def values(count, size=50_000):
    draw = np.random.default_rng(count)
    return [draw.normal(step, 1 + step, size if step % 3 else 100).astype("f4") for step in range(count)]


def expect(bench, kind, arrays):
    """Every value came once, in order, as this process would have laid it out."""
    layouts = [FORMATS.get(name)() for name in bench.options.formats]
    outcomes = bench.collect(len(arrays))
    assert [outcome.task.step for outcome in outcomes] == list(range(len(arrays)))
    for outcome, array in zip(outcomes, arrays, strict=True):
        job = Job(KINDS.get(kind), outcome.task.job.tag, KINDS.get(kind).snapshot(array), 0)
        here = lay_out(perform(outcome.task._replace(job=job)).point, layouts)
        assert joined(outcome.records or lay_out(outcome.point, layouts)) == joined(here)


def joined(records):
    return [b"".join(parts) for parts in records]


def test_outcomes_are_those_of_a_thread(bench):
    some = bench().start_workers()
    arrays = values(40)
    for step, array in enumerate(arrays):
        some.put("histogram", array, step)
    expect(some, "histogram", arrays)
    assert all(outcome.records for outcome in some.outcomes), "some were not done by the worker"


def test_nothing_is_lent_before_there_is_a_worker(bench, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Crew, "_hire", lambda _: None)
        some = bench().put("histogram", [1.0, 2.0])
        some.collect(1)
        wait_for(lambda: some.executor.outcomes() == [] and some.crew is not None and len(some.crew.rings) and not some.crew.rings.cold)
        assert some.executor.allocate(1000) is None
    wait_for(lambda: some.crew.arrivals)
    assert some.executor.allocate(1000) is not None


def test_two_workers_share_the_work_and_the_order_stays(bench):
    some = bench(num_process=2).start_workers(2)
    arrays = values(60, 400_000)
    for step, array in enumerate(arrays):
        some.put("histogram", array, step)
    wait_for(lambda: all(each.cpu_times().user > 0 for each in some.workers))
    expect(some, "histogram", arrays)
    assert len(some.workers) == 2


def test_images_and_whole_tensors(bench):
    some = bench().start_workers()
    pictures = [np.full((40, 60, 3), step, np.uint8) for step in range(10)]
    for step, picture in enumerate(pictures):
        some.put("image", picture, step)
    expect(some, "image", pictures)
    some.outcomes.clear()
    tensors = [np.full((100, 100), step, dtype) for step, dtype in enumerate(("f4", "f8", "i8", "?", "f2"))]
    for step, tensor in enumerate(tensors):
        some.put("tensor", tensor, step)
    expect(some, "tensor", tensors)


def test_a_tensor_is_framed_from_the_ring_itself(bench):
    some = bench().start_workers()
    (outcome,) = some.put("tensor", np.arange(100_000, dtype="f4")).collect(1, settle=False)
    assert some.crew.rings._newest.locate(outcome.point.value.data) is not None
    some.outcomes.clear()
    del outcome
    assert not some.crew.rings._newest.empty(), "the worker reads it if this process dies: it must not be used again yet"
    some.executor.settle()
    wait_for(some.crew.rings._newest.empty)


def test_memory_comes_back_once_all_is_settled(bench):
    some = bench().start_workers()
    for _ in range(20):
        some.put("histogram", np.zeros(10**6, "f4")).collect(1)
        some.outcomes.clear()
    wait_for(some.crew.rings._newest.empty)
    assert some.crew.rings._newest.capacity == rings.LEAST_RING


def test_a_ring_that_is_too_small_grows_and_nothing_is_lost(bench):
    some = bench().start_workers()
    arrays = values(30, 3_000_000)
    for step, array in enumerate(arrays):
        some.put("histogram", array, step)
    expect(some, "histogram", arrays)
    assert some.crew.rings._newest.capacity > rings.LEAST_RING
    some.outcomes.clear()
    wait_for(lambda: some.executor.outcomes() == [] and len(some.crew.rings) == 1)
    some.put("histogram", arrays[1]).collect(1)
    assert some.outcomes[0].records


def test_no_value_waits_for_the_pages_of_a_larger_ring(bench, monkeypatch):
    """While they are touched the worker has the values already: were this process killed now, it would write them."""
    some = bench().start_workers()
    touched = threading.Event()
    monkeypatch.setattr(rings.Ring, "populate", lambda _: touched.wait(LIMIT))
    arrays = values(5, 3_000_000)
    for step, array in enumerate(arrays):
        some.put("histogram", array, step)
    some.outcomes += some.executor.outcomes()
    (worker,) = some.crew._hired
    assert len(some.crew.rings) > 1
    assert worker.known.keys() >= set(range(1, 1 + len(arrays)))
    touched.set()
    expect(some, "histogram", arrays)
    assert all(outcome.records for outcome in some.outcomes)


def test_small_totals_stay_in_the_thread(tmp_path, monkeypatch):
    """A short job of ten histograms of a million values pays for no process."""
    monkeypatch.setattr(process, "START_SECS", LIMIT)    # on a busy machine it may take longer
    some = Bench(tmp_path)
    for step in range(10):
        some.put("histogram", np.zeros(10**6, "f4"), step)
    some.collect(10)
    assert some.crew is None
    some.executor.close()


def test_old_values_of_small_totals_do_too(tmp_path, monkeypatch):
    """As where somebody records anew what was recorded last year, with its own times."""
    monkeypatch.setattr(process, "START_SECS", 60.0)    # a busy machine may keep the pump from its work for a while
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_histogram("h", np.ones(100), step, walltime=1e9)
            writer.add_tensor("t", np.ones(100), step, walltime=1e9)
            assert writer.flush()
        assert writer._writer.desk.works.executor._crew is None


def test_a_thread_that_falls_behind_is_relieved(tmp_path, monkeypatch):
    """What waits for it goes to the worker, in order."""
    some = Bench(tmp_path)
    gate = threading.Event()
    kind = type(KINDS.get("histogram"))
    reduce = kind.reduce
    monkeypatch.setattr(kind, "reduce", lambda *args: gate.wait(LIMIT) and reduce(*args))
    monkeypatch.setattr(kind, "small", -1)    # none is done before it comes to the thread
    arrays = values(20)
    for step, array in enumerate(arrays):
        some.put("histogram", array, step)
    time.sleep(process.START_SECS)
    some.put("histogram", arrays[0], len(arrays))
    wait_for(lambda: some.executor.outcomes() == [] and some.executor._done.keys() >= set(range(1, len(arrays))))
    gate.set()
    expect(some, "histogram", [*arrays, arrays[0]])
    assert sum(outcome.records is None for outcome in some.outcomes) == 1
    some.executor.close()


def test_no_process_where_none_is_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "START_BYTES", 1)
    some = Bench(tmp_path, num_process=0)
    some.put("histogram", np.zeros(10**6, "f4")).collect(1)
    assert not isinstance(some.executor, ProcessExecutor)
    assert scripts.children() == []
    some.executor.close()


class Homemade:
    """A snapshot of a class that no worker can import: this module is none of those on its path."""

    nbytes = 100


class HomemadeKind:
    name = "histogram"

    def reduce(self, snapshot):
        return KINDS.get("histogram").reduce(KINDS.get("histogram").snapshot([1.0]))


def test_what_only_this_process_can_do_is_done_here(bench):
    some = bench().start_workers()
    for step in range(6):
        snapshot = Homemade() if step % 2 else KINDS.get("histogram").snapshot([1.0])
        some.executor.submit(Task(Job(HomemadeKind(), "h", snapshot, 100), step, time.time()))
    assert [(outcome.task.step, outcome.records is None) for outcome in some.collect(6)] == [(s, bool(s % 2)) for s in range(6)]


def test_a_value_that_cannot_be_reduced_costs_itself_alone(bench):
    some = bench().start_workers()
    for step in range(6):
        snapshot = KINDS.get("histogram").snapshot(np.ones(3)) if step % 2 else pickle.PickleBuffer
        some.executor.submit(Task(Job(KINDS.get("histogram"), "h", snapshot, 100), step, time.time()))
    reasons = [outcome.reason for outcome in some.collect(6)]
    assert reasons[1::2] == ["", "", ""]
    assert all("histogram: AttributeError" in reason for reason in reasons[0::2])


class Poison:
    """Whoever unpickles it dies of the signal."""

    nbytes = 100

    def __init__(self, signum):
        self.signum = signum

    def __reduce__(self):
        return signal.raise_signal, (self.signum,)


def test_a_value_that_crashes_a_worker_is_dropped_and_the_rest_is_done(bench):
    some = bench().start_workers()
    arrays = values(9)
    for step, array in enumerate(arrays):
        if step == 4:
            some.executor.submit(Task(Job(KINDS.get("histogram"), "poison", Poison(signal.SIGSEGV), 100), step, time.time()))
        else:
            some.put("histogram", array, step)
    outcomes = some.collect(9)
    assert [outcome.task.step for outcome in outcomes] == list(range(9))
    assert [outcome.reason for outcome in outcomes if outcome.reason] == ["histogram: a worker process crashed on it (signal 11)"]


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGSTOP])
def test_the_death_of_a_worker_costs_nothing(signum, bench, monkeypatch):
    some = bench().start_workers()
    arrays = values(60, 300_000)
    for step, array in enumerate(arrays):
        some.put("histogram", array, step)
        if step % 10 == 5:
            some.outcomes += some.executor.outcomes()
        if step == 30:
            first = some.workers[0].pid
            os.kill(first, signum)
    with monkeypatch.context() as patch:
        patch.setattr(hired, "ANSWER_SECS", 0.5)    # of that one only: the next may be kept from its work
        wait_for(lambda: some.outcomes.extend(some.executor.outcomes()) or some.said)
    expect(some, "histogram", arrays)
    wait_for(lambda: some.executor.outcomes() == [] and some.crew.arrivals == 2)
    assert some.workers[0].pid != first, "no new worker was started"
    assert [key for key, _ in some.said] == ["worker"]
    some.outcomes.clear()
    some.put("histogram", arrays[1]).collect(1)
    assert some.outcomes[0].records


def test_a_worker_that_nobody_can_start_is_done_without(bench, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    some = bench()
    for step in range(5):
        some.put("histogram", np.ones(100_000), step)
    some.collect(5)
    assert some.crew is None
    assert len(some.said) == 1
    assert "/no/such/python" in some.said[0][1]


@pytest.mark.parametrize("program", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\nexec sleep 0.1\n"])
def test_a_program_that_is_no_interpreter_is_done_without(program, bench, tmp_path, monkeypatch):
    """An embedded interpreter's ``sys.executable`` may be anything. After a few tries it is left alone."""
    monkeypatch.setattr(vacancies, "_BACK_OFF_SECS", (0.0,))
    fake = tmp_path / "python-in-name-only"
    fake.write_text(program)
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    some = bench()
    some.put("histogram", np.ones(100_000)).collect(1)
    wait_for(lambda: some.crew._vacancies.posts == 0)
    some.put("histogram", np.ones(100_000)).collect(2)
    assert [key for key, _ in some.said] == ["no worker"]


@pytest.mark.parametrize("name", ["blender", "", None])
def test_an_executable_that_does_not_look_like_python_is_never_started(name, monkeypatch):
    monkeypatch.setattr(sys, "executable", name)
    assert "no Python interpreter" in hired.hindrance()


@pytest.mark.parametrize("missing", ["memfd_create", "pidfd_open", "posix_spawn"])
def test_a_system_without_the_means_is_done_without(missing, bench, monkeypatch):
    monkeypatch.delattr(os, missing)
    some = bench()
    some.put("histogram", np.ones(100_000)).collect(1)
    assert some.crew is None
    assert len(some.said) == 1
    assert "in a thread" in some.said[0][1]


def test_without_memory_for_a_ring_the_thread_serves(bench, monkeypatch):
    def refuse(_):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(rings, "Ring", refuse)
    some = bench()
    arrays = values(5)
    for step, array in enumerate(arrays):
        some.put("histogram", array, step)
    expect(some, "histogram", arrays)
    wait_for(lambda: some.crew._vacancies.posts == 0)
    assert [key for key, _ in some.said] == ["ring"]


def test_a_ring_that_cannot_grow_stays_and_the_thread_takes_the_rest(bench, monkeypatch):
    some = bench().start_workers()

    def refuse(_):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(rings, "Ring", refuse)
    arrays = values(30, 3_000_000)
    for step, array in enumerate(arrays):
        some.put("histogram", array, step)
    expect(some, "histogram", arrays)
    assert {outcome.records is None for outcome in some.outcomes} == {True, False}
    assert [key for key, _ in some.said] == ["ring"]


def record_step(record, step, arrays):
    for place, array in enumerate(arrays):
        record.add_value("histogram", f"h{place}", array)
    record.add_value("scalar", "loss", float(step))
    record.add_value("image", "picture", np.full((8, 8), step, np.uint8))
    record.add_value("tensor", "weights", np.full((200, 100), step, np.float32))
    assert record.record(step)


def check_run(directory, steps, arrays):
    run = Run(directory)
    assert not run.damage
    assert run.scalars("loss").step.tolist() == list(range(steps))
    for place in range(len(arrays)):
        assert [point.step for point in run.histograms(f"h{place}")] == list(range(steps))
    assert [point.step for point in run.images("picture")] == list(range(steps))
    assert [float(run.tensors("weights").at(step)[7, 7]) for step in range(steps)] == [float(step) for step in range(steps)]


def test_a_record_with_workers_writes_what_it_would_without(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "START_BYTES", 1)
    arrays = values(6, 20_000)
    with SummaryRecord(tmp_path) as record:
        for step in range(50):
            record_step(record, step, arrays)
            time.sleep(0.01)
        assert record.flush()
        assert len(scripts.children()) == 1
    assert record.stats()["dropped"] == {}
    check_run(tmp_path, 50, arrays)


def test_close_waits_for_what_is_with_the_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "START_BYTES", 1)
    arrays = values(6, 2_000_000)
    record = SummaryRecord(tmp_path)
    for step in range(5):
        record_step(record, step, arrays)
    record.close()
    assert record.stats()["waiting"] == 0
    assert record.stats()["dropped"] == {}
    check_run(tmp_path, 5, arrays)


@pytest.mark.slow
def test_a_hundred_records_leave_nothing_behind(tmp_path, monkeypatch):
    """Files, threads, processes, mappings."""
    monkeypatch.setattr(process, "START_BYTES", 1)
    monkeypatch.setattr(rings, "LEAST_RING", 2**20)
    gc.collect()    # arrays of earlier tests
    before, array = scripts.descriptors(tmp_path), np.ones(50_000, "f4")
    for number in range(100):
        with SummaryRecord(tmp_path) as record:
            record.add_value("histogram", "h", array)
            record.record(number)
            if number % 20 == 0:    # most are closed while their worker is still starting
                record.flush()
                wait_for(lambda record=record: record._writer.desk.works.executor._crew.arrivals)
    wait_for(lambda: scripts.descriptors(tmp_path) == before)    # the disk is still being synced behind the last close()
    wait_for(lambda: scripts.children() == [])
    assert "memfd:summarykit" not in Path("/proc/self/maps").read_text()
    wait_for(lambda: not [thread for thread in threading.enumerate() if thread.name.startswith("summarykit")])


def test_it_is_said_in_the_log(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(process, "START_BYTES", 1)
    monkeypatch.setattr(sys, "executable", "")
    with caplog.at_level(logging.WARNING, "summarykit"), SummaryRecord(tmp_path) as record:
        for step in range(3):
            record.add_value("histogram", "h", np.ones(100_000))
            record.record(step)
            record.flush()
    assert sum("in a thread" in line for line in caplog.messages) == 1


def test_without_a_descriptor_for_the_crew_the_thread_does_it_all(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(process, "START_BYTES", 1)
    monkeypatch.setattr(os, "eventfd", refuse)
    bench = Bench(tmp_path, num_process=1)
    for step in range(3):
        bench.put("histogram", np.full(1000, step), step)
    bench.collect(3)
    assert [outcome.point.step for outcome in bench.outcomes] == [0, 1, 2]
    assert [key for key, _ in bench.said] == ["no worker"]
    bench.executor.close()
