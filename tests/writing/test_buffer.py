"""The buffer between callers and pump: what is put is taken, in order; what is too much waits or is dropped, within bounds."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.kinds import KINDS
from summarykit.writing import buffer as buffers
from summarykit.writing.batch import Batch, Job, columns, size
from summarykit.writing.buffer import Buffer


def batch(step, count=1, jobs=()):
    return Batch(step, float(step), {f"t{place}": float(place) for place in range(count)}, tuple(jobs))


def job(nbytes):
    return Job(KINDS.get("tensor"), "big", None, nbytes)


def make(on_full="block"):
    calls = []
    return Buffer(on_full, lambda: calls.append("attend"), lambda: calls.append("wake")), calls


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 64))
def test_everything_is_taken_once_and_in_order(counts, slice_size):
    some, _ = make()
    for step, count in enumerate(counts):
        assert some.put(batch(step, count))
    taken = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffers, "SLICE", slice_size)
        while len(some):
            part = some.take()
            assert part
            assert sum(map(size, part[:-1])) < slice_size    # no slice is larger than it must be
            taken += part
    assert [each.step for each in taken] == list(range(len(counts)))
    assert some.taken == len(counts)


def test_the_first_batch_starts_the_pump_and_later_ones_do_not():
    some, calls = make()
    for step in range(100):
        some.put(batch(step))
    assert calls == ["attend"]


def test_a_backlog_wakes_the_pump():
    some, calls = make()
    for step in range(buffers.WAKE_AT // 50 + 200):
        some.put(batch(step, 50))
    assert "wake" in calls


@pytest.mark.parametrize("count", [1, 50, 5000])
def test_full_is_told_in_values_whatever_the_batches_hold(count):
    """However many values a batch holds, what waits stays near FULL_AT."""
    some, _ = make("drop")
    accepted = sum(some.put(batch(step, count)) for step in range(3 * buffers.FULL_AT // count))
    assert buffers.FULL_AT // 2 <= accepted * count <= 2 * buffers.FULL_AT + count
    assert some.values() == accepted * count


def test_block_waits_for_room():
    some, _ = make("block")
    while some.values() < buffers.FULL_AT:
        some.put(batch(0, 5000))
    some.mark = 0

    def make_room():
        time.sleep(0.05)
        while len(some):
            some.take()

    thread = threading.Thread(target=make_room)
    thread.start()
    assert some.put(batch(1, 5000))
    thread.join()


def test_block_gives_up_once_and_then_drops_at_once():
    """EX5: no call waits longer than stated, and a hanging disk does not cost that wait at every call."""
    some, _ = make("block")
    while some.values() < buffers.FULL_AT:
        some.put(batch(0, 5000))
    some.mark = 0
    start = time.monotonic()
    assert not any(some.put(batch(1)) for _ in range(200))
    assert buffers.LONGEST_WAIT <= time.monotonic() - start < 4 * buffers.LONGEST_WAIT


def test_arrays_are_bounded_in_bytes():
    some, _ = make("drop")
    half = buffers.FULL_BYTES // 2
    assert some.put(batch(0, 0, [job(half)]))
    assert some.put(batch(1, 0, [job(half)]))
    assert not some.put(batch(2, 0, [job(1)]))
    some.release(half)
    assert some.put(batch(3, 0, [job(1)]))


def test_one_array_larger_than_the_bound_may_pass_alone():
    some, _ = make("drop")
    assert some.put(batch(0, 0, [job(2 * buffers.FULL_BYTES)]))
    assert not some.put(batch(1, 0, [job(1)]))


def test_columns_hold_what_the_batches_held():
    some = columns([batch(3, 2), batch(4, 0), batch(5, 1)])
    assert list(some.tags) == ["t0", "t1", "t0"]
    assert some.steps.tolist() == [3, 3, 5]
    assert some.wall_times.tolist() == [3.0, 3.0, 5.0]
    assert some.values.tolist() == [0.0, 1.0, 0.0]
