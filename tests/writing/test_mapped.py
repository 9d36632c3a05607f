"""Memory that two processes see: the same bytes at the same places, whether or not the system brings it into huge pages."""

from __future__ import annotations

import mmap
import os

import numpy as np
import pytest
from testkit import scripts

from summarykit.writing import mapped
from summarykit.writing.mapped import HUGE, Mapped, allocate

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no memory files")
CAPACITY = 2 * HUGE + mmap.PAGESIZE


@pytest.fixture
def descriptor():
    fd = os.memfd_create("test")
    allocate(fd, CAPACITY)
    yield fd
    os.close(fd)


def test_two_mappings_show_the_same_before_and_after_pages_become_huge(descriptor):
    here, there = Mapped(descriptor, CAPACITY), Mapped(descriptor, CAPACITY, mmap.PROT_READ)
    content = np.random.default_rng(0).integers(0, 256, CAPACITY, np.uint8)
    np.frombuffer(here.memory, np.uint8)[:] = content
    there.collapse(0, CAPACITY)
    assert (np.frombuffer(there.memory, np.uint8) == content).all()
    assert (np.frombuffer(here.memory, np.uint8) == content).all()
    np.frombuffer(here.memory, np.uint8)[::1000] = 7
    assert (np.frombuffer(there.memory, np.uint8)[::1000] == 7).all()


def test_what_lies_before_and_behind_takes_no_memory(descriptor):
    both = Mapped(descriptor, CAPACITY), Mapped(descriptor, CAPACITY, mmap.PROT_READ)
    for each in both:
        each.collapse(0, CAPACITY)
    assert os.fstat(descriptor).st_blocks * 512 == CAPACITY


def test_a_system_without_huge_pages_is_no_harm(descriptor, monkeypatch):
    monkeypatch.setattr(mapped, "_COLLAPSE", -1)    # which every system refuses
    some = Mapped(descriptor, CAPACITY)
    some.memory[-1] = 5
    some.collapse(0, CAPACITY)
    assert some.memory[-1] == 5


def test_nothing_is_left_when_the_last_array_is_gone(descriptor, tmp_path):
    before = scripts.descriptors(tmp_path)
    array = np.frombuffer(Mapped(descriptor, CAPACITY).memory, np.uint8)
    array[:] = 1
    del array
    assert scripts.descriptors(tmp_path) == before
