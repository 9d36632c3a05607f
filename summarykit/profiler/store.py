"""Writes the rows of a window as frames, and copes with a full disk and with the window's limits."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

from summarykit.notices import Notices
from summarykit.profiler import frames
from summarykit.profiler.keeping import Newest, Oldest
from summarykit.profiler.lanes import Lanes
from summarykit.profiler.segment import Segment
from summarykit.profiler.tape import Rows, Tape


class Store:
    """The files of one window of one process. What cannot be written is counted, and never raises.

    Attributes:
        directory: where the files are.
        lost: rows that were not written, by reason.
        written: rows that were.
    """

    def __init__(self, tape: Tape, directory: Path, head: dict[str, Any], keeping: Oldest | Newest) -> None:
        """Take the files.

        Args:
            tape: what is to be written.
            directory: where they are.
            head: what each file begins with.
            keeping: chooses the file, within the limits.
        """
        self.directory = directory
        self.lost: Counter[str] = Counter()
        self.written = 0
        self._head = head
        self._keeping = keeping
        self._tape = tape
        self._lanes = Lanes()
        tape.lists["lanes"] = self._lanes.entries
        self._notices = Notices()
        self._lock = threading.Lock()

    @property
    def over(self) -> str:
        """Which limit ended the recording: ``"bytes"``, ``"seconds"`` or none."""
        return self._keeping.over

    def drain(self) -> None:
        """Write all rows that are there."""
        with self._lock:
            for table in list(self._tape.tables.values()):
                most = self._keeping.frame // table.width
                for _ in range(-(-len(table) // most)):
                    self._write(table, most)

    def describe(self, fields: dict[str, Any]) -> None:
        """Write what is known by now of the window."""
        found = {"rows": self.written, "lost": dict(self.lost), "over": self.over, "dropped_files": self._keeping.dropped}
        with self._lock:
            self._put(self._keeping.last(), frames.meta({**self._head, **fields, **found}), 0)

    def close(self, fields: dict[str, Any]) -> None:
        """Write what is known in the end, and let go of the files."""
        self.describe(fields)
        self._keeping.close()

    def abandon(self) -> None:
        """Let go of the files without a word: in a forked child they are the parent's."""
        self._keeping.close()

    def begin(self) -> None:
        """Write what each file begins with, so that there is something to read should nothing else come."""
        segment = self._keeping.last()
        self._put(segment, self._before(segment, self._known()), 0)

    def _write(self, table: Rows, most: int) -> None:
        columns = table.take(most)
        count = len(next(iter(columns.values())))
        if not count:
            return
        for name, kind in table.columns.items():
            if kind == "lane":
                columns[name] = self._lanes.of(columns[name])
        buffers = frames.rows(table.table, table.columns, columns)
        segment, known = self._segment(sum(map(len, buffers))), self._known()
        if segment is None:
            self._lose(count, self.over or "too large for max_bytes")
        elif self._put(segment, [*self._before(segment, known), *buffers], count):
            segment.known = known

    def _segment(self, size: int) -> Segment | None:
        try:
            return self._keeping.segment(size)
        except OSError as error:
            self._say(error)
            return None

    def _known(self) -> dict[str, int]:
        return {kind: len(entries) for kind, entries in self._tape.lists.items()}

    def _before(self, segment: Segment, known: dict[str, int]) -> list[Any]:
        """What the file must hold before further rows: its head, and the names and threads that are new to it."""
        parts = [] if segment.size else frames.meta(self._head)
        for kind, count in known.items():
            first = segment.known.get(kind, 0)
            if count > first:
                parts += frames.listed(kind, first, self._tape.lists[kind][first:count])
        return parts

    def _put(self, segment: Segment, buffers: list[Any], count: int) -> bool:
        try:
            segment.append(buffers)
        except OSError as error:
            self._say(error)
            self._lose(count, error.strerror or type(error).__name__)
            return False
        self.written += count
        return True

    def _lose(self, count: int, reason: str) -> None:
        self.lost[reason] += count

    def _say(self, error: OSError) -> None:
        reason = error.strerror or type(error).__name__
        self._notices.once(reason, "profiler: cannot write to %s (%s): the training goes on, losses are counted", self.directory, reason)
