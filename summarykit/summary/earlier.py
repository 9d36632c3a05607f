"""Runs below a resumed one: each goes on from the same step."""

from __future__ import annotations

import os

from summarykit.writing.resumption import Resumption


class EarlierRuns:
    """What lay below a run's directory when it was resumed."""

    def __init__(self, directory: str, resumption: Resumption | None) -> None:
        """Look what is there.

        Args:
            directory: of the run.
            resumption: how it goes on; None: nothing is resumed.
        """
        self._resumption = resumption
        self._runs: set[str] = set()
        if resumption is not None:
            from pathlib import Path

            from summarykit.reading.files import run_directories  # most runs continue none, and need no reader

            self._runs.update(os.path.realpath(each) for each in run_directories(Path(directory)))

    def resume(self, directory: str) -> Resumption | None:
        """How the run of this directory goes on; None for a new one."""
        return self._resumption if os.path.realpath(directory) in self._runs else None
