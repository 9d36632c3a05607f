"""Memory that two processes see: the same bytes at the same places, whether or not the system brings it into huge pages."""

from __future__ import annotations

import mmap
import os
import sys

import numpy as np
import pytest
from testkit import scripts

from summarykit.writing import mapped
from summarykit.writing.mapped import HUGE, Mapped, allocate

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no memory files")
CAPACITY = 2 * HUGE + mmap.PAGESIZE


def as_it_is(_):
    pass


def refused(monkeypatch):
    monkeypatch.setattr(mapped, "_COLLAPSE", -1)    # which every system refuses


def not_even_one_page(monkeypatch):
    monkeypatch.setattr(mapped, "_POPULATE_WRITE", -1)


def slow(monkeypatch):
    monkeypatch.setattr(mapped, "_SLOW_SECS", 0.0)
    monkeypatch.setattr(mapped, "_PIECE", HUGE)


def at_once_late(monkeypatch):
    monkeypatch.setattr(mapped, "_LONGEST_SECS", -1.0)
    monkeypatch.setattr(mapped, "_PIECE", HUGE)


def without_ctypes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctypes", None)


@pytest.fixture(params=[as_it_is, refused, not_even_one_page, slow, at_once_late, without_ctypes])
def descriptor(request, monkeypatch):
    """Of a file allocated by a system that has huge pages, or has none, or not enough of them."""
    request.param(monkeypatch)
    fd = os.memfd_create("test")
    allocate(fd, CAPACITY)
    yield fd
    os.close(fd)


def test_two_mappings_show_the_same(descriptor):
    here, there = Mapped(descriptor, CAPACITY), Mapped(descriptor, CAPACITY, mmap.PROT_READ)
    content = np.random.default_rng(0).integers(0, 256, CAPACITY, np.uint8)
    np.frombuffer(here.memory, np.uint8)[:] = content
    assert (np.frombuffer(there.memory, np.uint8) == content).all()
    np.frombuffer(here.memory, np.uint8)[::1000] = 7
    assert (np.frombuffer(there.memory, np.uint8)[::1000] == 7).all()


def test_all_of_it_is_there_and_nothing_before_and_behind(descriptor):
    both = Mapped(descriptor, CAPACITY), Mapped(descriptor, CAPACITY, mmap.PROT_READ)
    assert all(len(each.memory) == CAPACITY and not any(each.memory[:: mmap.PAGESIZE]) for each in both)
    assert os.fstat(descriptor).st_blocks * 512 >= CAPACITY    # a system that always takes huge pages rounds up


def test_nothing_is_left_when_the_last_array_is_gone(descriptor, tmp_path):
    before = scripts.descriptors(tmp_path)
    array = np.frombuffer(Mapped(descriptor, CAPACITY).memory, np.uint8)
    array[:] = 1
    del array
    assert scripts.descriptors(tmp_path) == before
