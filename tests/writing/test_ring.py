"""The ring: slots never overlap, come back when their arrays are gone, and one memory is seen by two processes."""

from __future__ import annotations

import errno
import gc
import mmap
import os
import random
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import scripts

from summarykit.writing import ring as ring_module
from summarykit.writing.mapped import Mapped
from summarykit.writing.ring import ALIGNMENT, Ring, Slots

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no memory files")
CAPACITY = 1 << 14


@given(st.lists(st.tuples(st.integers(1, CAPACITY // 2), st.integers(0, 5)), max_size=80))
def test_what_is_lent_is_nobody_elses_and_keeps_its_content(requests):
    """Each request lends some bytes; then one of those still held (by its place in the list) is given back."""
    ring = Ring(CAPACITY)
    held = []
    for number, (nbytes, back) in enumerate(requests):
        lent = ring.allocate(nbytes)
        if lent is not None:
            assert lent.nbytes == nbytes
            assert ring.locate(lent) % ALIGNMENT == 0
            lent[:] = number % 251
            held.append((lent, number % 251))
        assert all((array == content).all() for array, content in held)
        if back < len(held):
            del held[back]
        lent = None
    held.clear()
    assert ring.empty()
    assert ring.allocate(CAPACITY) is not None, "all came back, but it is not one piece again"


@given(st.lists(st.integers(1, 300), min_size=1, max_size=200), st.integers(1, 8))
def test_first_in_first_out_goes_on_for_ever(sizes, window):
    """A queue of ``window`` slots never runs out of a memory of three times that size."""
    slots = Slots(3 * window * (max(sizes) + ALIGNMENT))
    queue = []
    for nbytes in sizes:
        if len(queue) == window:
            queue.pop(0)
        place = slots.place(nbytes)
        assert place is not None
        owner = np.empty(1)
        slots.take(place, nbytes, owner)
        queue.append(owner)


def test_a_slot_is_held_by_any_view_of_it():
    ring = Ring(CAPACITY)
    views = [
        lambda array: array[8:16],
        lambda array: array.view(np.float32).reshape(2, -1)[1],
        lambda array: memoryview(array.reshape(-1)),
        lambda array: np.ascontiguousarray(array).view("<f8"),
        lambda array: np.frombuffer(memoryview(array[64:]), np.int64),
    ]
    for view in views:
        kept = view(ring.allocate(CAPACITY // 2))
        assert not ring.empty()
        assert ring.allocate(CAPACITY // 2 + 1) is None
        del kept
        assert ring.empty()


def test_a_long_lived_slot_stops_the_ring_and_harms_nothing():
    ring = Ring(CAPACITY)
    first = ring.allocate(64)
    first[:] = 7
    taken = 0
    while ring.allocate(64) is not None:
        taken += 1
    assert taken == CAPACITY // 64 - 1
    assert (first == 7).all()
    del first
    assert ring.allocate(64) is not None


def test_threads_never_get_the_same_memory():
    ring = Ring(1 << 20)
    faults, lent = [], dict.fromkeys(range(4), 0)
    deadline = time.monotonic() + 60

    def work(number):
        draw = random.Random(number)
        while lent[number] < 1_000 and time.monotonic() < deadline:
            array = ring.allocate(draw.randint(1, 4_000))
            if array is None:    # another thread is just asking: it may have lost the processor while it did
                time.sleep(0)
                continue
            lent[number] += 1
            array[:] = number
            if not (array == number).all():
                faults.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in lent]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert set(lent.values()) == {1_000}


def test_a_call_that_interrupts_another_gets_ordinary_memory():
    """A signal handler that records while its own thread is in ``allocate``: no dead-lock."""
    ring = Ring(CAPACITY)
    with ring._lock:
        assert ring.allocate(64) is None
    assert ring.allocate(64) is not None


def test_it_is_located_and_shared():
    ring = Ring(CAPACITY)
    ring.allocate(100)
    array = ring.allocate(1000)
    array[:] = 3
    assert ring.populate()
    assert ring.locate(np.zeros(10)) is None
    assert ring.locate(array) == 0    # the first was not held
    assert bytes(Mapped(ring.fd, ring.capacity, mmap.PROT_READ).memory[:1000]) == b"\3" * 1000


def test_pages_are_touched_piece_by_piece_to_the_last():
    ring = Ring((5 << 20) // 2)
    array = ring.allocate(ring.capacity)
    array[:] = 9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ring_module, "_PIECE", 1 << 20)
        assert [ring.populate() for _ in range(3)] == [False, False, True]
    assert (array == 9).all()


def test_the_memory_goes_with_its_last_array(tmp_path):
    def mapped():
        with open("/proc/self/maps") as maps:
            return sum("memfd:summarykit" in line for line in maps)

    gc.collect()
    before, descriptors = mapped(), scripts.descriptors(tmp_path)
    ring = Ring(CAPACITY)
    array = ring.allocate(10)
    ring.close()
    ring.close()
    del ring
    assert mapped() == before + 1
    array[:] = 1
    del array
    assert mapped() == before
    assert scripts.descriptors(tmp_path) == descriptors


def test_a_ring_that_the_system_refuses_leaves_nothing_behind(tmp_path, monkeypatch):
    descriptors = scripts.descriptors(tmp_path)

    def refuse(*_, **__):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(OSError, match="memory"):
        Ring(CAPACITY)
    assert scripts.descriptors(tmp_path) == descriptors


def test_a_ring_that_would_take_most_of_the_memory_is_refused_before_it_takes_any():
    with pytest.raises(MemoryError):
        Ring(1 << 60)
