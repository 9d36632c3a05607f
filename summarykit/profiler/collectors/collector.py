"""What every collector offers, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from summarykit.profiler.cost import Cost
from summarykit.profiler.tape import Tape


class StepListener(Protocol):
    """What is told of every step in a window, in the thread that trains."""

    def step_begin(self, step: int) -> None:
        """The body of a step begins."""

    def step_end(self, step: int) -> None:
        """A step has ended."""


@dataclass
class Site:
    """The window that a collector works for.

    Attributes:
        tape: takes what is recorded.
        directory: of the window; traces that others write go there.
        stem: begins the names of such files: ``"rank_0"``.
        max_bytes: limit of the window.
        told: whether it is sure that steps will be told of.
        listeners: who is told of every step.
        workers: numbers of the processes that work for this one (of a data loader), for what watches processes.
    """

    tape: Tape
    directory: Path
    stem: str
    max_bytes: int
    told: bool = False
    listeners: list[StepListener] = field(default_factory=list)
    workers: set[int] = field(default_factory=set)


class Collector:
    """One thing that a window collects; made anew for every window.

    A collector of your own is registered by an entry point in the group ``summarykit.profiler_collectors`` under its key.
    """

    key: ClassVar[str]
    """Its name in ``Profiler(collectors=...)``."""
    period: ClassVar[float] = 0.0
    """Seconds between two calls of ``tick``, in the window's own thread; 0: it is never called."""

    anywhere: ClassVar[bool] = True
    """False: it must be stopped in the thread that it was started in."""

    def __init__(self, site: Site) -> None:
        """Make a collector of a window; nothing is started."""
        self.site = site
        self.cost = Cost()

    @property
    def marks(self) -> int:
        """Rows of its own that were written so far, where it is by these that it costs the training time."""
        return 0

    @classmethod
    def useful(cls) -> bool:
        """Whether ``collectors="auto"`` takes it: what it looks at is there."""
        return True

    def start(self) -> None:
        """Begin to collect."""

    def tick(self) -> None:
        """Look once."""

    def stop(self) -> None:
        """End that, and leave nothing behind in the program."""

    def forget(self) -> None:
        """In a forked child: take back what was changed in this process, and touch nothing that is the parent's."""

    def finish(self) -> None:
        """Do what takes long, after the window: before an analysis."""

    def described(self) -> dict[str, Any]:
        """What a reader must know of what was collected; by default nothing."""
        return {}
