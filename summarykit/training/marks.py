"""Where a loop stands, told to whoever watches the time: while nobody does, that costs a look and an empty call a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def unwatched(*_: Any) -> None:
    """What a mark is while nobody watches."""


def _no_training() -> None:
    return None


class Marks:
    """What the loop of a training calls; the profiler puts its own functions here while a window is open.

    Attributes:
        next: how the loop gets the next (micro-)batch: the built-in function, or one that does the same.
        begin: called with the number of a step of training that begins.
        training: gives the training that began a step last, or began itself; None where it is gone. (Held weakly: one that its user
            left without an end must not keep a model in memory.)
    """

    __slots__ = ("begin", "next", "training")

    def __init__(self) -> None:
        self.next: Callable[[Any, Any], Any] = next
        self.begin: Callable[[int], None] = unwatched
        self.training: Callable[[], Any] = _no_training

    @contextmanager
    def during(self, training: Callable[[], Any]) -> Iterator[None]:
        """While the block runs it is that training, then again the one before: a training may run within a step of another."""
        before, self.training = self.training, training
        try:
            yield
        finally:
            self.training = before


MARKS = Marks()
