"""Where a loop stands, told to whoever watches the time: while nobody does, that costs a look and an empty call a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def unwatched(*_: Any) -> None:
    """What a mark is while nobody watches."""


class Marks:
    """What the loop of a training calls; the profiler puts its own functions here while a window is open.

    Attributes:
        next: how the loop gets the next (micro-)batch: the built-in function, or one that does the same.
        begin: called with the number of a step of training that begins.
        phase: the training that runs; of several within each other the outermost.
    """

    __slots__ = ("begin", "next", "phase")

    def __init__(self) -> None:
        self.next: Callable[[Any, Any], Any] = next
        self.begin: Callable[[int], None] = unwatched
        self.phase: Any = None

    @contextmanager
    def during(self, phase: Any) -> Iterator[None]:
        """While the block runs, that training is the one, unless it runs within another."""
        before = self.phase
        self.phase = phase if before is None else before
        try:
            yield
        finally:
            self.phase = before


MARKS = Marks()
