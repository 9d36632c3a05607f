"""The buffer between callers and pump: what is put is taken, in order; what is too much waits or is dropped, within bounds."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.kinds import KINDS
from summarykit.writing import buffer as buffers
from summarykit.writing.buffer import Buffer
from summarykit.writing.flat import WIDTH, columns, flatten
from summarykit.writing.job import Batch, Values


def scalars(step, count=1):
    return flatten([f"t{place}" for place in range(count)], map(float, range(count)), step, float(step))


def batch(*sizes, step=0):
    return Batch(KINDS.get("tensor"), [*map(str, range(len(sizes)))], Values([None] * len(sizes)), list(sizes), step, float(step))


def make(on_full="block"):
    calls = []
    return Buffer(on_full, lambda: calls.append("attend"), lambda: calls.append("wake")), calls


def fill(some, count=5000):
    while len(some) < buffers.FULL_AT:
        some.put(scalars(0, count))
    some.mark = 0


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 64))
def test_everything_is_taken_once_and_in_order(counts, slice_size):
    some, _ = make()
    for step, count in enumerate(counts):
        assert some.put(scalars(step, count), [batch(*range(count % 5), step=step)])
    assert len(some) == sum(counts) + sum(count % 5 for count in counts)
    end, flat, tasks = some.end(), [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffers, "SLICE", slice_size)
        while not some.passed(end):
            part, batches = some.take()
            values = [task for each in batches for task in each.tasks()]
            assert part or batches
            assert len(part) // WIDTH <= slice_size
            assert len(values) <= slice_size or len(batches) == 1
            flat, tasks = flat + part, tasks + values
    assert some.passed(end)
    assert flat == [item for step, count in enumerate(counts) for item in scalars(step, count)]
    expected = [(step, str(place), place) for step, count in enumerate(counts) for place in range(count % 5)]
    assert [(each.step, each.job.tag, each.job.nbytes) for each in tasks] == expected
    assert not len(some)


def test_the_first_value_starts_the_pump_and_later_ones_do_not():
    some, calls = make()
    for step in range(100):
        some.put(scalars(step))
    assert calls == ["attend"]


def test_a_caller_that_looks_at_the_mark_itself_is_bounded_too():
    """What ``SummaryWriter.add_scalar`` does."""
    some, calls = make("drop")
    accepted = 0
    for step in range(2 * buffers.FULL_AT):
        if len(some.flat) <= some.mark or some.room():
            some.flat.extend(("loss", 0.5, step, 1.0))
            accepted += 1
    assert calls[0] == "attend"
    assert accepted == buffers.FULL_AT == len(some)


def test_a_backlog_wakes_the_pump_each_time():
    some, calls = make()
    for _ in range(2):
        calls.clear()
        for step in range(buffers.WAKE_AT // 50 + 200):
            some.put(scalars(step, 50))
        assert "wake" in calls
        while len(some):
            some.take()


def test_an_eager_buffer_asks_for_every_value():
    some, calls = make()
    some.eager = True
    for step in range(5):
        some.put(scalars(step))
        some.take()
    assert calls == ["attend"] * 5


@pytest.mark.parametrize("count", [1, 50, 5000])
def test_full_is_told_in_values_however_they_come(count):
    some, _ = make("drop")
    accepted = sum(some.put(scalars(step, count)) for step in range(3 * buffers.FULL_AT // count))
    assert buffers.FULL_AT <= accepted * count < buffers.FULL_AT + count
    assert len(some) == accepted * count


def test_block_waits_for_room(monkeypatch):
    monkeypatch.setattr(buffers, "LONGEST_WAIT", 100.0)    # the other thread may not get its turn at once
    some, _ = make("block")
    fill(some)

    def make_room():
        time.sleep(0.05)
        while len(some):
            some.take()

    thread = threading.Thread(target=make_room)
    thread.start()
    assert some.put(scalars(1, 5000))
    thread.join()


def test_a_process_that_was_stopped_in_the_midst_of_waiting_drops_nothing_in_vain(monkeypatch):
    """The pump stood still, too; it makes room when it is let run."""
    some, _ = make("block")
    fill(some)
    naps, now = [], [time.monotonic()]

    def stopped(seconds):
        naps.append(seconds)
        now[0] += 10
        while len(naps) == 3 and len(some):
            some.take()

    monkeypatch.setattr(buffers.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(buffers.time, "sleep", stopped)
    assert some.put(scalars(1))
    assert len(naps) == 3


def test_block_gives_up_once_and_then_drops_at_once():
    """EX5: no call waits longer than stated, and a hanging disk does not cost that wait at every call."""
    some, _ = make("block")
    fill(some)
    start = time.monotonic()
    assert not any(some.put(scalars(1)) for _ in range(200))
    assert buffers.LONGEST_WAIT <= time.monotonic() - start < 40 * buffers.LONGEST_WAIT    # two hundred of them if each call waited


def test_arrays_are_bounded_in_bytes():
    some, _ = make("drop")
    half = buffers.FULL_BYTES // 2
    assert some.put((), [batch(half)])
    assert some.put((), [batch(half)])
    assert not some.put((), [batch(1)])
    some.release(batch(half).tasks()[0].job)
    assert some.put((), [batch(1)])


def test_small_values_are_bounded_in_number():
    some, _ = make("drop")
    accepted = sum(some.put((), [batch(10)]) for _ in range(buffers.FULL_AT + 100))
    assert accepted == buffers.FULL_AT


def test_one_array_larger_than_the_bound_may_pass_alone():
    some, _ = make("drop")
    assert some.put((), [batch(2 * buffers.FULL_BYTES)])
    assert not some.put((), [batch(1)])


def test_the_oldest_value_is_told():
    some, _ = make()
    assert some.oldest() is None
    some.put(scalars(7), [batch(1, step=3)])
    assert some.oldest() == 3.0


def test_columns_hold_what_the_list_held():
    some = columns([*scalars(3, 2), *scalars(4, 0), *scalars(5, 1)])
    assert list(some.tags) == ["t0", "t1", "t0"]
    assert some.steps.tolist() == [3, 3, 5]
    assert some.wall_times.tolist() == [3.0, 3.0, 5.0]
    assert some.values.tolist() == [0.0, 1.0, 0.0]
