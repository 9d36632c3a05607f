"""Copies lie where they disturb nobody: never on top of one another, and their memory is used again when nobody holds them."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from summarykit.kinds import memory
from summarykit.kinds.memory import LEAST_CHUNKED, Chunk, Lending, copied

chunked = pytest.mark.skipif(not memory._HAS_HUGE_PAGES, reason="this system has no huge pages")


def span(array):
    start = array.ctypes.data
    return start, start + array.nbytes


@given(st.lists(st.tuples(st.integers(1, 3 * 2**17), st.sampled_from(["u1", "<i2", "<f4", "<f8"])), min_size=1, max_size=20))
def test_copies_hold_their_values_and_never_overlap(wanted):
    given = [np.random.default_rng(number).integers(0, 100, n).astype(dtype) for number, (n, dtype) in enumerate(wanted)]
    copies = [copied(array, array.dtype) for array in given]
    assert all((copy == array).all() and copy.dtype == array.dtype for copy, array in zip(copies, given, strict=True))
    spans = sorted(map(span, copies))
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert all(copy.ctypes.data % copy.itemsize == 0 for copy in copies)


def test_any_layout_becomes_contiguous():
    array = np.arange(3 * LEAST_CHUNKED, dtype=np.float32).reshape(3, -1).T[::2]
    copy = copied(array, array.dtype)
    assert copy.flags.c_contiguous
    np.testing.assert_array_equal(copy, array)


@chunked
def test_a_chunk_goes_with_the_last_array_in_it():
    chunk = Chunk()
    first, second = chunk.take(100), chunk.take(2**20)
    whole = weakref.ref(first.base.base if first.base.base is not None else first.base)
    del chunk, first
    gc.collect()
    assert whole() is not None
    second[:] = 1    # still there
    del second
    gc.collect()
    assert whole() is None


@chunked
def test_memory_in_which_no_array_is_left_is_there_for_the_next_chunk():
    first, second = Chunk(), Chunk()
    held, begin = second.take(2**20), span(first.take(2**20))[0]
    assert span(Chunk().take(2**20))[0] != begin
    del first
    gc.collect()
    again = [Chunk().take(2**20) for _ in range(memory._KEPT)]    # copies of other tests may just have gone, too
    assert begin in {span(each)[0] for each in again}
    assert not any(np.shares_memory(held, each) for each in again)


@chunked
@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(LEAST_CHUNKED, 2**22)), max_size=60))
def test_whoever_holds_a_copy_finds_in_it_what_was_copied(turns):
    held = {}
    for number, (place, nbytes) in enumerate(turns):
        copy = copied(np.full(nbytes, number, np.uint8), np.dtype(np.uint8))
        held[place] = (number, copy.reshape(-1, 1)[1:] if number % 2 else copy)    # of some, only a view lives on
    assert all((copy == number).all() for number, copy in held.values())


@chunked
def test_a_full_chunk_says_so():
    chunk = Chunk()
    while chunk.take(2**20) is not None:
        pass
    assert chunk.take(2**20) is None
    assert chunk.take(0) is not None


@chunked
def test_a_signal_handler_in_the_middle_gets_other_memory(monkeypatch):
    """What a handler copies while its own thread is just taking memory."""
    copied(np.zeros(LEAST_CHUNKED, np.uint8), np.dtype(np.uint8))
    inside, before = [], Chunk.take

    def take(self, nbytes):
        if not inside:
            inside.append(None)
            inside[0] = copied(np.full(LEAST_CHUNKED, 7, np.uint8), np.dtype(np.uint8))
        return before(self, nbytes)

    monkeypatch.setattr(Chunk, "take", take)
    outer = copied(np.full(LEAST_CHUNKED, 1, np.uint8), np.dtype(np.uint8))
    later = copied(np.full(LEAST_CHUNKED, 2, np.uint8), np.dtype(np.uint8))
    assert [(array == value).all() for array, value in ((inside[0], 7), (outer, 1), (later, 2))] == [True] * 3


@chunked
def test_threads_fill_chunks_of_their_own():
    found = {}

    def work(number):
        found[number] = [copied(np.full(LEAST_CHUNKED + number, number, np.uint8), np.dtype(np.uint8)) for _ in range(50)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((copy == number).all() for number, copies in found.items() for copy in copies)
    spans = sorted(span(copy) for copies in found.values() for copy in copies)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_lent_memory_comes_first():
    lent = np.zeros(2**20, np.uint8)
    with Lending(lambda nbytes: lent[:nbytes]):
        copy = copied(np.ones(LEAST_CHUNKED, np.uint8), np.dtype(np.uint8))
    assert np.shares_memory(copy, lent)
    assert not np.shares_memory(copied(np.ones(LEAST_CHUNKED, np.uint8), np.dtype(np.uint8)), lent)
