"""A thread that samples every few seconds, so that training need not."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from summarykit.notices import Notices

PATIENCE = 1.0
"""Seconds that the end of a run waits for a sample that is just being taken: a directory's server may hang."""


class Source(Protocol):
    """Something to sample."""

    def sample(self) -> dict[str, float]:
        """Give numbers by name."""


class Sampler:
    """Samples all sources in one thread; the newest sample is there to be taken, once."""

    def __init__(self, sources: Sequence[Source], period: float) -> None:
        """Make a sampler.

        Args:
            sources: what to sample.
            period: seconds between two samples, and before the first.
        """
        self._sources = sources
        self._period = period
        self._notices = Notices()
        self._newest: dict[str, float] = {}
        self._over = threading.Event()
        self._dismissed = False
        self._thread = threading.Thread(target=self._run, name="summarykit-system", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def sample(self) -> None:
        """Take a sample now, in the calling thread; a source that fails is left out, and that is said once."""
        self._newest = {name: value for source in self._sources for name, value in self._ask(source).items()}

    def take(self) -> dict[str, float]:
        """The newest sample; empty where it was taken before."""
        newest, self._newest = self._newest, {}
        return newest

    def stop(self) -> bool:
        """End the thread; False where it does not end, because something it samples hangs."""
        self._over.set()
        self._thread.join(PATIENCE)
        return not self._thread.is_alive()

    def dismiss(self) -> None:
        """Let the thread end with the present period. No lock is needed: the garbage collector may call this, in that thread too."""
        self._dismissed = True

    def _ask(self, source: Source) -> dict[str, float]:
        try:
            return source.sample()
        except Exception as error:  # noqa: BLE001 - of drivers and kernels one expects anything
            name = type(source).__name__
            self._notices.once(name, "system: %s cannot be sampled: %s: %s", name, type(error).__name__, error)
            return {}

    def _run(self) -> None:
        while not self._over.wait(self._period) and not self._dismissed:
            self.sample()
