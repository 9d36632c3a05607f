"""Runs below a resumed one: each goes on from the same step, and only the first of all processes that records into it says so."""

from __future__ import annotations

from pathlib import Path

from summarykit.reading.files import run_directories, summary_files


class EarlierRuns:
    """What lay below a run's directory when it was resumed."""

    def __init__(self, directory: str, step: int | None) -> None:
        """Look what is there.

        Args:
            directory: of the run.
            step: the first step to be recorded; None: nothing is resumed.
        """
        self._step = step
        self._files: set[Path] = set()
        if step is not None:
            self._files.update(*map(_files, run_directories(Path(directory))))

    def resume(self, directory: str) -> int | None:
        """The first step to be recorded in the run of this directory; None for a new one, and for one that somebody has resumed already.

        That may have been a forked child, or a copy in another process: a beginning after its points would hide them.
        """
        there = _files(Path(directory)) if self._files else set()
        return self._step if there and there <= self._files else None


def _files(directory: Path) -> set[Path]:
    """The summary files there, whichever links lead to them; others do not begin a run."""
    return {path.resolve() for path in summary_files(directory)}
