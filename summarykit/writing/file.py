"""One record file: whole records in, through short writes and full disks."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import accumulate, islice, takewhile
from typing import NamedTuple

import numpy as np

from summarykit.formats.chunk import Chunk

JOINED_BYTES, MOST_JOINED = 2**16, 64
"""So many bytes, of so many chunks, are written in one call. At each the thread lets go of Python's lock, and beside a busy loop it waits
until it has that again."""

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

    @property
    def end(self) -> int:
        """Where it ends there."""
        return self.start + self.chunk.nbytes


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
        self._unsure = False    # whether all that was written is counted: an interrupt may have come between the two
        self.fd = -1
        try:
            self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
            self._identity = os.fstat(self.fd)
        except BaseException:
            if self.fd >= 0:
                self.remove()
            raise

    @property
    def waiting(self) -> int:
        """Bytes in hand."""
        return self.size - self.written

    def vanished(self) -> bool:
        """Whether the file was deleted (on a file server: by another machine), or its descriptor closed by somebody else."""
        try:
            return self._status().st_nlink == 0
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
            sizes = accumulate([each.chunk.nbytes for each in islice(self._pending, MOST_JOINED)])
            together = list(islice(self._pending, max(1, len([*takewhile(JOINED_BYTES.__ge__, sizes)]))))
            try:
                self._write(together)
            finally:
                self._settle_written()

    def _write(self, together: list[_Pending]) -> None:
        self._count()
        self._unsure = True
        offset, buffers = together[0].start, [buffer for each in together for buffer in each.chunk.data]
        for buffer in buffers if len(together) == 1 else [b"".join(buffers)]:
            view = memoryview(buffer).cast("B")
            while self.written < offset + len(view):
                self.written += os.write(self.fd, view[self.written - offset :])
            offset += len(view)
        self._unsure = False

    def _count(self) -> None:
        if self._unsure:
            self.written = max(self.written, self._status().st_size)

    def _status(self) -> os.stat_result:
        """How the file is; an error where the descriptor is another one's: the program closed all that it had, and opened its own."""
        found = os.fstat(self.fd)
        if not os.path.samestat(found, self._identity):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), self.path)
        return found

    def _settle_written(self) -> None:
        while self._pending and self._pending[0].end <= self.written:
            parcel = self._pending.popleft().parcel
            if parcel:
                parcel.settle(parcel.values)

    def give_up(self, reason: str) -> None:
        """Settle what is lost, and cut the file behind its last whole record.

        Raises:
            OSError: it cannot be cut.
        """
        with suppress(OSError):    # where it cannot be asked it is not cut either
            self._count()
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
            self._status()    # never another one's file
            os.ftruncate(self.fd, keep)

    def sync(self) -> None:
        """Bring it to the disk, past the system's cache."""
        os.fsync(self.fd)

    def remove(self) -> None:
        """Take back what was made for nothing."""
        os.close(self.fd)
        with suppress(OSError):    # gone already, perhaps with the whole directory
            os.unlink(self.path)

    def close(self) -> None:
        """Close the descriptor.

        Raises:
            OSError: somebody else did; or a file server tells only now what it could not keep.
        """
        self._status()
        os.close(self.fd)
