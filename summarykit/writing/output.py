"""The files of one writer: one per format, opened together, rotated together, twins by name."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import numpy as np

import summarykit.formats.mindspore.layout  # unless it is told otherwise each writer needs both: no first value should wait for them
import summarykit.formats.tensorboard.layout  # noqa: F401
from summarykit.formats import FORMATS
from summarykit.formats.chunk import EMPTY, Chunk
from summarykit.writing.durable import Unsynced, sync_path
from summarykit.writing.file import PENDING_BYTES, Parcel, RecordFile
from summarykit.writing.maker import FileMaker
from summarykit.writing.options import WriterOptions
from summarykit.writing.stats import Stats


class Output:
    """Where chunks go. Files are made when the first chunk comes; storage errors are remembered and tried again, never raised."""

    def __init__(self, options: WriterOptions, stats: Stats, failed: Callable[[OSError], None]) -> None:
        """Prepare to write; nothing is created yet. ``failed`` is told when writing begins to fail."""
        self.formats = [FORMATS.get(name)() for name in options.formats]
        self.maker = FileMaker(options, self.formats)
        self.error: OSError | None = None
        self.paths: list[str] = []
        self.in_hand = 0
        self.behind_since: float | None = None    # wall time at which the storage took no more
        self._options = options
        self._stats = stats
        self._files: list[RecordFile] = []
        self._left: list[str] = []    # rotated files that no sync has seen
        self._opening_sizes: list[int] = []
        self._failed = failed

    def write(self, chunks: list[Chunk], values: int) -> None:
        """Write one chunk per format: the same values in each, one record a value (or none where the format has no place for it)."""
        try:
            for pieces, fitting in self._pieces(chunks, values):
                self._add(pieces, fitting)
                values -= fitting
            reason = self._reason()
        except Exception as error:  # noqa: BLE001  such as a MemoryError: it costs these values alone
            reason = type(error).__name__
        if values:
            self._stats.drop(reason, values)
        self.push()
        self.maker.cut_torn_tails()

    def push(self) -> None:
        """Write what is in hand; where that fails it stays there for the next time."""
        for file in self._files:
            before = file.written
            self._attempt(file.push)
            self._stats.bytes += file.written - before
        behind = any(file.waiting for file in self._files)
        self.behind_since = (self.behind_since or time.time()) if behind else None
        if self._files and not behind:
            self.error = None

    def unsynced(self) -> Unsynced:
        """All that no sync has seen yet."""
        left, self._left = self._left, []
        return Unsynced(list(self._files), [*left, self._options.directory])

    def sync(self) -> None:
        """Bring the files, and their names, to the disk."""
        left, self._left = self._left, []
        for path in left:
            self._attempt(partial(sync_path, path))
        for file in self._files:
            self._attempt(file.sync)
        self._attempt(partial(sync_path, self._options.directory))

    def close(self) -> None:
        """Write what can be, give up the rest, close the files."""
        self.push()
        if self._files:
            self._leave()
        self.maker.wait_for_tails()

    def abandon(self) -> None:
        """Forget the files without writing: they belong to the parent of this forked process."""
        files, self._files = self._files, []
        for file in files:
            with suppress(OSError):    # the parent has closed it, or its whole program all that it had
                file.close()

    def _ready(self) -> bool:
        return bool(self._files) or self._attempt(self._open)

    def _open(self) -> None:
        self._files = self.maker.make()
        self._opening_sizes = [file.size for file in self._files]
        made = [file.path for file in self._files]
        self.paths = [*(path for path in self.paths if path not in made), *made]    # a name comes again where its file was deleted
        self._stats.bytes += sum(file.written for file in self._files)

    def _pieces(self, chunks: list[Chunk], values: int) -> Iterator[tuple[list[Chunk], int]]:
        """For one file after the other what goes there, and how many values that are, as long as the storage takes any."""
        self._check_vanished()
        ready = self._ready() and all(file.waiting <= PENDING_BYTES for file in self._files)
        while ready and values:
            fitting = self._fitting(chunks, values)
            if fitting:
                pairs = [each.split(min(fitting, len(each.ends))) for each in chunks]
                chunks = [rest for _, rest in pairs]
                values -= fitting
                yield [first for first, _ in pairs], fitting
            else:
                ready = self._rotate()

    def _fitting(self, chunks: list[Chunk], values: int) -> int:
        """How many values still fit into the present files; a value too large for any file gets one of its own."""
        limit = self._options.max_file_size
        if limit is None:
            return values
        fitting = values
        for file, each in zip(self._files, chunks, strict=True):
            if len(each.ends):
                fitting = min(fitting, int(np.searchsorted(each.ends, limit - file.size, side="right")))
        fresh = all(file.size == size for file, size in zip(self._files, self._opening_sizes, strict=True))
        return max(fitting, 1) if fresh else fitting

    def _add(self, chunks: list[Chunk], values: int) -> None:
        parcel = Parcel(values, len(self._files), self._settled)
        self.in_hand += values
        for file, each in zip(self._files, chunks, strict=True):
            _hand_over(each, file, parcel)

    def _rotate(self) -> bool:
        """Go on in new files; False where the present ones still wait for their storage, or no new ones can be made."""
        self.push()
        if any(file.waiting for file in self._files):
            return False
        self._leave()
        return self._ready()

    def _leave(self) -> None:
        """Close the files; what is in hand is lost."""
        self._give_up()
        files, self._files = self._files, []
        for file in files:
            self._attempt(file.close)
        self._left += [file.path for file in files]

    def _give_up(self) -> None:
        for file in self._files:
            if file.waiting:
                self._attempt(partial(file.give_up, self._reason()))

    def _check_vanished(self) -> None:
        if any(file.vanished() for file in self._files):
            gone = self._files[0].path
            self._leave()
            self._stats.say(("vanished", str(gone)), "%s was deleted while it was being written; going on in a new file", gone)

    def _attempt(self, action: Callable[[], None]) -> bool:
        try:
            action()
        except (OSError, MemoryError) as raised:
            error = raised if isinstance(raised, OSError) else OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
            if self.error is None:
                self._failed(error)
                self._stats.say(("storage", error.errno), "cannot write (%s); training goes on, and writing is tried again", error)
            self.error = error
            return False
        return True

    def _settled(self, written: int, lost: int, reason: str) -> None:
        self.in_hand -= written + lost
        self._stats.written += written
        if lost:
            self._stats.drop(reason, lost)

    def _reason(self) -> str:
        if self.error is None:
            return "storage: closed before it was written"
        return f"storage: {os.strerror(self.error.errno or errno.EIO)}"


def _hand_over(each: Chunk, file: RecordFile, parcel: Parcel) -> None:
    if each is EMPTY:
        parcel.settle(parcel.values)
        return
    try:
        file.add(each, parcel)
    except MemoryError:
        parcel.settle(0, MemoryError.__name__)
