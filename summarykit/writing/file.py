"""One record file: whole records in, through short writes and full disks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from summarykit.formats.chunk import Chunk

PENDING_BYTES = 4 * 2**20
"""Bytes kept for a disk that is full; what comes beyond is dropped."""


class Parcel:
    """A run of values that goes into the files of all formats; it counts as written as far as all of them have it."""

    def __init__(self, values: int, files: int, done: Callable[[int, int, str], None]) -> None:
        """Expect the outcome of ``files`` files, then call ``done(written, lost, reason)``."""
        self._kept = self.values = values
        self._files = files
        self._done = done
        self._reason = ""

    def settle(self, kept: int, reason: str = "") -> None:
        """One file has the first ``kept`` values for good."""
        if kept < self._kept:
            self._kept, self._reason = kept, reason
        self._files -= 1
        if not self._files:
            self._done(self._kept, self.values - self._kept, self._reason)


class _Pending(NamedTuple):
    """A chunk that is not wholly in the file yet; ``start`` is where it begins there."""

    chunk: Chunk
    parcel: Parcel | None
    start: int


class RecordFile:
    """An append-only file that this process alone writes.

    What the system did not take yet stays in hand and goes first at the next ``push``; the file's own size tells how far it got.
    """

    def __init__(self, path: str) -> None:
        """Create the file.

        Raises:
            FileExistsError: somebody has that name.
            OSError: it cannot be made.
        """
        self.path = path
        self.size = 0
        self.written = 0
        self._pending: deque[_Pending] = deque()
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)    # at last

    @property
    def waiting(self) -> int:
        """Bytes in hand."""
        return self.size - self.written

    def vanished(self) -> bool:
        """Whether the file was deleted (on a file server: by another machine), or its descriptor closed by somebody else."""
        try:
            return os.fstat(self.fd).st_nlink == 0
        except OSError:
            return True

    def add(self, chunk: Chunk, parcel: Parcel | None = None) -> None:
        """Queue whole records."""
        size = self.size + chunk.nbytes
        self._pending.append(_Pending(chunk, parcel, self.size))    # the last that may fail
        self.size = size

    def push(self) -> None:
        """Write all that is in hand.

        Raises:
            OSError: the system refused; the rest stays in hand.
        """
        while self._pending:
            pending = self._pending[0]
            self._write(pending)
            self._pending.popleft()
            if pending.parcel:
                pending.parcel.settle(pending.parcel.values)

    def _write(self, pending: _Pending) -> None:
        offset = pending.start
        self.written = max(self.written, os.fstat(self.fd).st_size)    # an interrupt may have come between a write and its count
        for buffer in pending.chunk.data:
            view = memoryview(buffer).cast("B")
            while self.written < offset + len(view):
                self.written += os.write(self.fd, view[self.written - offset :])
            offset += len(view)

    def give_up(self, reason: str) -> None:
        """Settle what is lost, and cut the file behind its last whole record."""
        keep = self.written
        while self._pending:
            pending = self._pending.popleft()
            whole = int(np.searchsorted(pending.chunk.ends, self.written - pending.start, side="right"))
            if pending.start <= self.written:
                keep = pending.start + (int(pending.chunk.ends[whole - 1]) if whole else 0)
            if pending.parcel:
                pending.parcel.settle(min(whole, pending.parcel.values), reason)
        torn, self.size, self.written = keep < self.written, keep, keep
        if torn:
            os.ftruncate(self.fd, keep)

    def sync(self) -> None:
        """Bring it to the disk, past the system's cache."""
        os.fsync(self.fd)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.fd)
