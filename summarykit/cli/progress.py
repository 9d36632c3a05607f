"""A line on standard error while work takes long: only in a terminal, only after a second, gone when the work is done."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from summarykit.cli.table import clean, shorten, terminal_width

T = TypeVar("T")
_PATIENCE, _INTERVAL = 1.0, 0.2


class Progress:
    """Shows what is being done and for how long; a thread of its own draws it, so that one long call cannot stop it.

    Example:
        >>> with Progress("reading") as progress:
        ...     for run in progress.over(["a", "b"]):
        ...         pass
    """

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._at = ""
        self._done = threading.Event()
        self._drawn = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._draw, args=(time.monotonic(),), name="summarykit-progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def over(self, things: Iterable[T], total: int | None = None) -> Iterator[T]:
        """The things, one after the other, counted."""
        things = things if total else list(things)
        total = total or len(things)    # type: ignore[arg-type]
        for place, thing in enumerate(things, 1):
            self.tell(f"{place:,} of {total:,}")
            yield thing

    def tell(self, at: str) -> None:
        """Say how far it is."""
        self._at = at

    def of_file(self, file: Path, done: int, size: int) -> None:
        """Say how much of a file is done."""
        self.tell(f"{file.name} {done / max(size, 1):.0%}")

    def _draw(self, begun: float) -> None:
        if self._done.wait(_PATIENCE):
            return
        while not self._done.wait(_INTERVAL):
            line = f"{self._doing} {self._at} … {time.monotonic() - begun:.0f} s"
            sys.stderr.write(f"\r{shorten(clean(line), terminal_width() - 1)}\x1b[K")
            sys.stderr.flush()
            self._drawn = True
