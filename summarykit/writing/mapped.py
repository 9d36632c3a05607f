"""Memory that two processes see, in huge pages where the system has them.

A copy into pages of 4 KiB takes a fifth longer: the processor looks a new address up for each. For memory files huge pages are switched off
nearly everywhere, but Linux has them, from 6.1 on, for whoever asks for a piece that is there in part (``madvise(2)``, MADV_COLLAPSE). A
process then reaches such a piece by one entry of its page table, if it has mapped it at a multiple of that size.

They are asked for while the memory is empty but for one small page in each. So nothing is copied, and what is there costs an eighth of what
small pages do.
"""

from __future__ import annotations

import mmap
import os
from time import monotonic, thread_time
from typing import Any

import numpy as np

HUGE = 2 * 2**20
"""Bytes of a huge page of x86 and of most others; so far into its file the memory begins."""

_POPULATE_WRITE, _COLLAPSE = 23, 25    # of every processor; Python has no names for them yet
_PIECE = 8 * HUGE    # asked for at a time: 1 ms
_SLOW_SECS = 0.02    # of the processor's time for one, more than small pages take: the system has to clear the memory up first
_LONGEST_SECS = 0.1    # for all, more than the largest memory takes: each time the system waits for all processors, and here the pump waits
_READ_AND_WRITE = 3    # mmap.PROT_READ | mmap.PROT_WRITE, which Windows has not


def allocate(fd: int, capacity: int) -> None:
    """Make an empty file ready to be mapped: all of it is there, in huge pages as far as they are to be had.

    Raises:
        OSError: the system does not give so much memory.
    """
    os.ftruncate(fd, capacity + 2 * HUGE)    # a mapping may begin before the memory, and end behind it; what is not touched is not there
    _ask_for_huge_pages(Mapped(fd, capacity).memory)
    os.posix_fallocate(fd, HUGE, capacity)    # an error here; without it, a signal that ends the process at some later write


class Mapped:
    """The memory of a file that `allocate` made.

    Attributes:
        memory: its bytes. They stay mapped as long as this, or an array in it, is there.
    """

    def __init__(self, fd: int, capacity: int, access: int = _READ_AND_WRITE) -> None:
        """Map it; ``access`` is as ``mmap.mmap`` takes it.

        Raises:
            OSError: the system refused.
        """
        length = capacity + HUGE
        offset = _address(mmap.mmap(fd, length, prot=access)) % HUGE    # the next mapping of this length will lie there, too
        start = HUGE - offset
        self.memory = memoryview(mmap.mmap(fd, length, prot=access, offset=offset))[start : start + capacity]


def _ask_for_huge_pages(memory: memoryview) -> None:
    """Piece by piece, up to the first that is refused or slow to come. ``mmap.madvise`` would hold Python's lock all that time."""
    try:
        from ctypes import CDLL, PyDLL, c_size_t, c_void_p
    except ImportError:    # a Python that was built without it
        return
    ask, ask_briefly = CDLL(None).madvise, PyDLL(None).madvise
    latest = monotonic() + _LONGEST_SECS
    begin = _address(memory)
    end = begin + len(memory) // HUGE * HUGE
    for start in range(begin, end, _PIECE):
        whole, begun = min(_PIECE, end - start), thread_time()
        for each in range(start, start + whole, HUGE):
            ask_briefly(c_void_p(each), c_size_t(mmap.PAGESIZE), _POPULATE_WRITE)    # a mere touch could end the process
        refused = ask(c_void_p(start), c_size_t(whole), _COLLAPSE)
        if refused or thread_time() - begun > _SLOW_SECS or monotonic() > latest:
            return


def _address(mapped: Any) -> int:
    return int(np.frombuffer(mapped, np.uint8).__array_interface__["data"][0])
