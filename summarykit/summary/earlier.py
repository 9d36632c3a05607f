"""Runs below a resumed one: each goes on from the same step, and only the first of all processes that records into it says so."""

from __future__ import annotations

import os


class EarlierRuns:
    """What lay below a run's directory when it was resumed."""

    def __init__(self, directory: str, step: int | None) -> None:
        """Look what is there.

        Args:
            directory: of the run.
            step: the first step to be recorded; None: nothing is resumed.
        """
        self._step = step
        places = [] if step is None else os.walk(os.path.abspath(directory))
        self._files = {os.path.join(place, name) for place, _, names in places for name in names}

    def resume(self, directory: str) -> int | None:
        """The first step to be recorded in the run of this directory; None for a new one, and for one that somebody has resumed already.

        That may have been a forked child, or a copy in another process: a beginning after its points would hide them.
        """
        place, _, names = next(os.walk(os.path.abspath(directory)), ("", [], []))
        there = {os.path.join(place, name) for name in names}
        return self._step if there and there <= self._files else None
