"""Writes the rows of a window as frames, and copes with a full disk and with the window's limits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from summarykit.notices import Notices
from summarykit.profiler import frames
from summarykit.profiler.keeping import Newest, Oldest
from summarykit.profiler.lanes import Lanes
from summarykit.profiler.names import NAMES
from summarykit.profiler.segment import Segment
from summarykit.profiler.tape import Rows, Tape

_MOST = 1 << 14    # rows of a frame: what a damaged byte costs


class Store:
    """The files of one window of one process. What cannot be written is counted, and never raises.

    Attributes:
        directory: where the files are.
        lost: rows that were not written, by reason.
        written: rows that were.
    """

    def __init__(self, directory: Path, head: dict[str, Any], keeping: Oldest | Newest) -> None:
        """Take the files.

        Args:
            directory: where they are.
            head: what each file begins with.
            keeping: chooses the file, within the limits.
        """
        self.directory = directory
        self.lost: Counter[str] = Counter()
        self.written = 0
        self._head = head
        self._keeping = keeping
        self._lanes = Lanes()
        self._notices = Notices()

    @property
    def over(self) -> str:
        """Which limit ended the recording: ``"bytes"``, ``"seconds"`` or none."""
        return self._keeping.over

    def drain(self, tape: Tape) -> None:
        """Write all rows that are there."""
        for table in list(tape.tables.values()):
            for _ in range(len(table) // _MOST + 1):
                self._write(table)

    def close(self, tail: dict[str, Any]) -> None:
        """Write what is known in the end, and let go of the files."""
        found = {"rows": self.written, "lost": dict(self.lost), "over": self.over, "dropped_files": self._keeping.dropped}
        self._put(self._keeping.last(), [*frames.meta({**self._head, **tail, **found})], 0)
        self._keeping.close()

    def abandon(self) -> None:
        """Let go of the files without a word: in a forked child they are the parent's."""
        self._keeping.close()

    def _write(self, table: Rows) -> None:
        columns = table.take(_MOST)
        count = len(next(iter(columns.values())))
        if not count:
            return
        for name, kind in table.columns.items():
            if kind == "lane":
                columns[name] = self._lanes.of(columns[name])
        buffers = frames.rows(table.table, table.columns, columns)
        segment = self._segment(sum(map(len, buffers)))
        if segment is None:
            self._lose(count, self.over or "too large for max_bytes")
        elif self._put(segment, [*self._before(segment), *buffers], count):
            segment.names = {"names": len(NAMES.entries), "lanes": len(self._lanes.entries)}

    def _segment(self, size: int) -> Segment | None:
        try:
            return self._keeping.segment(size)
        except OSError as error:
            self._say(error)
            return None

    def _before(self, segment: Segment) -> list[Any]:
        """What the file must hold before further rows: its head, names and threads that are new."""
        head = [] if segment.size else frames.meta(self._head)
        lists = {"names": NAMES.entries, "lanes": self._lanes.entries}
        return head + [part for kind, entries in lists.items() for part in self._fresh(kind, entries, segment)]

    @staticmethod
    def _fresh(kind: str, entries: list[Any], segment: Segment) -> list[Any]:
        fresh = entries[segment.names[kind] :]
        return frames.listed(kind, fresh) if fresh else []

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
        self._notices.once(reason, "profiler: cannot write to %s (%s): the training goes on, what is lost is counted", self.directory, reason)
