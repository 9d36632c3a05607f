"""Memory that two processes see, in huge pages where the system has them.

A copy into pages of 4 KiB takes a fifth longer: the processor looks a new address up for each. For memory files huge pages are switched off
nearly everywhere, but Linux has them, from 6.1 on, for whoever asks for a piece that is there already (``madvise(2)``, MADV_COLLAPSE). A
process then reaches such a piece by one entry of its page table, if it has mapped it at a multiple of that size.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import numpy as np

HUGE = 2 * 2**20
"""Bytes of a huge page of x86 and of most others; so far into its file the memory begins."""

_COLLAPSE = 25    # of every processor; Python has no name for it yet
_READ_AND_WRITE = 3    # mmap.PROT_READ | mmap.PROT_WRITE, which Windows has not


def allocate(fd: int, capacity: int) -> None:
    """Make an empty file ready to be mapped.

    Raises:
        OSError: the system does not give so much memory.
    """
    os.ftruncate(fd, capacity + 2 * HUGE)    # a mapping may begin before the memory, and end behind it; what is not touched is not there
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

    def collapse(self, start: int, nbytes: int) -> None:
        """Bring a part of it into huge pages, for all who have mapped it; what cannot be stays as it is.

        It takes a millisecond for each, and ``mmap.madvise`` would hold Python's lock all that time.
        """
        whole = min(nbytes, len(self.memory) - start) // HUGE * HUGE
        ctypes.CDLL(None).madvise(ctypes.c_void_p(_address(self.memory) + start), ctypes.c_size_t(whole), _COLLAPSE)


def _address(mapped: Any) -> int:
    return int(np.frombuffer(mapped, np.uint8).__array_interface__["data"][0])
