"""A run's lineage, in a file of its own where MindInsight looks for it; that file's time is the run's heartbeat."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from contextlib import suppress

from summarykit.clock import BEAT_SECS
from summarykit.formats import framing, names
from summarykit.formats.chunk import chunk
from summarykit.formats.names import Stem
from summarykit.formats.origin import Origin
from summarykit.registry import imported
from summarykit.shapes import Lineage, Point
from summarykit.writing.file import RecordFile
from summarykit.writing.options import WriterOptions


class LineageFile:
    """Appends what is known; made with the first part. Each part stands for itself, so one that could not be written is not tried again."""

    def __init__(self, options: WriterOptions, origin: Callable[[], Origin]) -> None:
        """Prepare to write; ``origin`` tells who does."""
        self._options = options
        self._origin = origin
        self._file: RecordFile | None = None
        self._beaten = time.monotonic()
        self.paths: list[str] = []

    def write(self, point: Point) -> int:
        """Append one part; gives its bytes.

        Raises:
            OSError: it could not be written; the file ends behind its last whole record.
        """
        assert isinstance(point.value, Lineage)
        lineage = imported("summarykit.formats.mindspore.lineage")    # most runs have none
        payloads = [lineage.encode(point.value, point.step, point.wall_time)]
        file = self._open()
        if not file.size:
            payloads.insert(0, lineage.opening(self._origin(), point.wall_time))
        before = file.size
        file.add(chunk([[framing.frame(payload)] for payload in payloads]))
        try:
            file.push()
        except OSError:
            file.give_up("")
            raise
        self._beaten = time.monotonic()
        return file.size - before

    def beat(self) -> None:
        """Show that the run lives; costs a system call every ``BEAT_SECS``."""
        if self._file is not None and time.monotonic() - self._beaten >= BEAT_SECS:
            self._beaten = time.monotonic()
            with suppress(OSError):    # a heartbeat that fails is one that is missed
                os.utime(self._file.path)

    def files(self) -> list[RecordFile]:
        """The file, where there is one."""
        return [] if self._file is None else [self._file]

    def close(self) -> None:
        """Close the file, also in a forked child, whose parent goes on with it."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):    # all is written already
                file.close()

    def _open(self) -> RecordFile:
        if self._file is not None and self._file.vanished():
            self.close()
        if self._file is None:
            self._file = self._create()
            self.paths.append(self._file.path)
        return self._file

    def _create(self) -> RecordFile:
        """A new file whose stem no other file has."""
        directory, origin = self._options.directory, self._origin()
        os.makedirs(directory, exist_ok=True)
        for counter in itertools.count():
            stamp = names.next_stamp(time.time(), os.listdir(directory))
            stem = Stem(stamp, self._options.rank, origin.process.host, origin.process.pid, counter)
            with suppress(FileExistsError):
                return RecordFile(os.path.join(directory, names.lineage(self._options.prefix, stem, self._options.suffix)))
        raise AssertionError("numbers do not end")
