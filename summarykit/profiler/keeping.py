"""What is kept where a window grows past its limits: its beginning, or its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns

from summarykit.profiler.segment import Segment

PARTS = 4
"""The end of a window is kept in so many files: the oldest of them goes when there is no more room."""


class Oldest:
    """Writes into one file until it is full.

    Attributes:
        over: which limit was reached, ``"bytes"`` or ``"seconds"``; empty where none was.
        dropped: segments that were deleted: none.
        frame: bytes that one frame should have at most.
    """

    dropped = 0
    frame = 1 << 19

    def __init__(self, directory: Path, max_bytes: int, max_seconds: float | None) -> None:
        """Take the limits; the directory is there."""
        self.over = ""
        self._segment = Segment(directory / "000001.records")
        self._max_bytes = max_bytes
        self._end = None if max_seconds is None else self._segment.begun + int(max_seconds * 1e9)

    def segment(self, size: int) -> Segment | None:
        """Where the next ``size`` bytes belong; None where there is no room for them."""
        if self._segment.size + size > self._max_bytes:
            self.over = "bytes"
        elif self._end is not None and perf_counter_ns() > self._end:
            self.over = "seconds"
        return None if self.over else self._segment

    def last(self) -> Segment:
        """Where the closing frame belongs, full or not."""
        return self._segment

    def close(self) -> None:
        """Let go of the file."""
        self._segment.close()


class Newest:
    """Writes into files of a quarter of the limits, and deletes the oldest where there are more than four.

    Attributes:
        over: always empty: recording goes on.
        dropped: how many files were deleted.
        frame: bytes that one frame should have at most: a file has room for several.
    """

    over = ""

    def __init__(self, directory: Path, max_bytes: int, max_seconds: float | None) -> None:
        """Take the limits; the directory is there."""
        self.dropped = 0
        self._directory = directory
        self._most = max_bytes // (PARTS + 1)
        self.frame = min(Oldest.frame, self._most // 4)
        self._ns = None if max_seconds is None else int(max_seconds / PARTS * 1e9)
        self._segments = [Segment(directory / "000001.records")]

    def segment(self, size: int) -> Segment | None:
        """Where the next ``size`` bytes belong; None where they alone are more than a file may hold."""
        if size > self._most:
            return None
        newest = self._segments[-1]
        if newest.size + size > self._most or (self._ns is not None and perf_counter_ns() - newest.begun > self._ns):
            self._rotate()
        return self._segments[-1]

    def last(self) -> Segment:
        """Where the closing frame belongs."""
        return self._segments[-1]

    def _rotate(self) -> None:
        newest = self._segments[-1]
        newest.close()
        if len(self._segments) > PARTS:
            self._segments.pop(0).path.unlink(missing_ok=True)
            self.dropped += 1
        self._segments.append(Segment(self._directory / f"{int(newest.path.stem) + 1:06d}.records"))

    def close(self) -> None:
        """Let go of the files."""
        self._segments[-1].close()


KEEP: dict[str, Callable[[Path, int, float | None], Oldest | Newest]] = {"oldest": Oldest, "newest": Newest}
