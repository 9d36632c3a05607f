"""One file of records: whole frames or nothing, straight to the operating system, so that a killed process loses none."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import perf_counter_ns
from typing import Any


class Segment:
    """A file that grows by whole frames.

    Attributes:
        path: the file.
        size: bytes in it.
        begun: when it was made, in ns of ``perf_counter_ns``.
        known: how many entries of each list (names, threads …) it holds already.
    """

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises:
            OSError: it exists, or cannot be created.
        """
        self.path = path
        self.size = 0
        self.begun = perf_counter_ns()
        self.known: dict[str, int] = {}
        self._file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o644)

    def append(self, buffers: Iterable[Any]) -> None:
        """Write frames.

        Raises:
            OSError: they could not be written; nothing of them is left in the file.
        """
        data = memoryview(b"".join(buffers))
        done = 0
        try:
            while done < len(data):
                done += os.write(self._file, data[done:])
        except OSError:
            self._cut()
            raise
        self.size += done

    def _cut(self) -> None:
        with suppress(OSError):    # a reader copes with a torn frame; on a full disk this frees its space
            os.ftruncate(self._file, self.size)
            os.lseek(self._file, self.size, os.SEEK_SET)

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            file, self._file = self._file, -1
            os.close(file)
