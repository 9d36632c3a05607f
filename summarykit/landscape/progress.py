"""Tells a person how far a survey is."""

from __future__ import annotations

import sys
import time

from summarykit.landscape.surveying import Progress

_INTERVAL = 0.5


class ProgressLine:
    """One line on standard error that is written over and over; nothing where that is no terminal."""

    def __init__(self, title: str) -> None:
        """Begin with nothing shown."""
        self._title = title
        self._shown = float("-inf")

    def __call__(self, progress: Progress) -> None:
        """Show how far it is, at most twice a second."""
        ended = progress.done >= progress.total
        if not sys.stderr.isatty() or (time.monotonic() - self._shown < _INTERVAL and not ended):
            return
        self._shown = time.monotonic()
        sys.stderr.write(f"\r{self._title}: {line(progress)}\x1b[K{chr(10) if ended else ''}")
        sys.stderr.flush()


def line(progress: Progress) -> str:
    """How far it is, in words: ``"120 of 1,604 points, 3 min left"``."""
    left = progress.seconds_left
    if left is None or progress.done >= progress.total:
        return f"{progress.done:,} of {progress.total:,} points"
    spelled = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min" if left < 6000 else f"{left / 3600:.1f} h"
    return f"{progress.done:,} of {progress.total:,} points, {spelled} left"
