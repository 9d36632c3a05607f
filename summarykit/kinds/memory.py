"""Where the copies of frozen values lie: in memory of their own, unless whoever takes the snapshot lends a better place."""

from __future__ import annotations

import mmap
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from summarykit.shapes import Array

Lender = Callable[[int], Array | None]
"""Gives so many bytes as a uint8 array, aligned for every dtype, or None; the memory goes back when that array and its views are gone."""


LEAST_LENT = 2**14
"""Bytes from which a lender is asked; a smaller value is copied as quickly as that."""

LEAST_CHUNKED = 2**16
"""Bytes from which a copy lies in a chunk; the memory of smaller ones is used again and again by the allocator, and warm."""

_HUGE = 2 * 2**20    # a huge page of x86 and of most others
_LARGEST_CHUNKED = 2 * _HUGE - 1    # beyond, NumPy itself asks for huge pages
_CHUNK = 4 * _HUGE
_ALIGNMENT = 64
_KEPT = 4    # chunks
_HAS_HUGE_PAGES = hasattr(mmap, "MADV_HUGEPAGE")


_left: deque[mmap.mmap] = deque(maxlen=_KEPT)
"""Memory of chunks in which no array is left: the first touch of new memory may cost a virtual machine 30 times what a copy does."""


class Chunk:
    """Memory given out from its beginning to its end; with the last array in it, it is there for another chunk.

    Its pages are huge ones where the system has them: the first touch of 4 KiB pages costs 15 times what the copy itself does.
    """

    def __init__(self) -> None:
        """Reserve address space; the system gives the memory as it is touched.

        Raises:
            OSError: there is no address space.
        """
        reserved = _reserved()
        whole = np.frombuffer(reserved, np.uint8)
        weakref.finalize(whole, _left.append, reserved).atexit = False
        start = -int(whole.__array_interface__["data"][0]) % _HUGE
        self._free = whole[start : start + _CHUNK]

    def take(self, nbytes: int) -> Array | None:
        """Give so many bytes; None where they are not left."""
        if nbytes > len(self._free):
            return None
        given, self._free = self._free[:nbytes], self._free[-(-nbytes // _ALIGNMENT) * _ALIGNMENT :]
        return given


def _reserved() -> mmap.mmap:
    try:
        return _left.pop()    # what was used last is warm
    except IndexError:
        made = mmap.mmap(-1, _CHUNK + _HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        made.madvise(mmap.MADV_HUGEPAGE)
        return made


class Lending:
    """While its ``with`` block runs, values that this thread freezes are copied into the lender's memory, as far as it has some."""

    __slots__ = ("lender",)

    def __init__(self, lender: Lender | None) -> None:
        """``lender`` is asked once for each copy; None lends nothing."""
        self.lender = lender

    def __enter__(self) -> None:
        _here.lending = self

    def __exit__(self, *_: object) -> None:
        _here.lending = NOBODY


NOBODY = Lending(None)
"""Lends nothing."""


class _Here(threading.local):
    """Who lends memory to this thread now, and the chunk that it fills."""

    lending: Lending = NOBODY
    chunk: Chunk | None = None


_here = _Here()


def copied(data: Array, dtype: np.dtype[Any]) -> Array:
    """Copy an array, C-contiguous, to a dtype of the same width."""
    nbytes = data.nbytes
    room = None if nbytes < LEAST_LENT else _room(nbytes)
    if room is None:
        return np.array(data, dtype, order="C")
    copy: Array = np.ndarray(data.shape, dtype, room)
    copy[...] = data
    return copy


def _room(nbytes: int) -> Array | None:
    lender = _here.lending.lender
    room = None if lender is None else lender(nbytes)
    if room is None and _HAS_HUGE_PAGES and LEAST_CHUNKED <= nbytes <= _LARGEST_CHUNKED:
        return _chunked(nbytes)
    return room


def _chunked(nbytes: int) -> Array | None:
    """Give memory of this thread's chunk. Meanwhile the chunk is nobody's: a signal handler that comes here too fills one of its own."""
    chunk, _here.chunk = _here.chunk, None
    given = None if chunk is None else chunk.take(nbytes)
    if given is None:
        try:
            chunk = Chunk()
        except OSError:    # no address space for the chunk: perhaps there is some for the value alone
            return None
        given = chunk.take(nbytes)
    _here.chunk = chunk
    return given
