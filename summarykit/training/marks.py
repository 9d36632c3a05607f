"""Where a loop stands, told to whoever watches the time: while nobody does, that costs a look at an attribute in each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def unwatched(*_: Any) -> None:
    """What a mark is while nobody watches."""


class Marks:
    """What the loop of a training tells of itself.

    That a step begins needs no mark: whoever wants to know puts a method of its own in the place of ``Training.begin_step``.

    Attributes:
        next: how the loop gets the next (micro-)batch: the built-in function, or one that does the same. It is called with the batches
            and with what is to be given at their end, which is the training itself.
        running: the trainings that run, the innermost last: one may run within a step of another. (Held weakly: one that its user left
            without an end must not keep a model in memory.)
    """

    __slots__ = ("next", "running")

    def __init__(self) -> None:
        self.next: Callable[[Any, Any], Any] = next
        self.running: list[Callable[[], Any]] = []

    @property
    def training(self) -> Any:
        """The innermost training that runs; None where none does."""
        return self.running[-1]() if self.running else None

    @contextmanager
    def during(self, training: Callable[[], Any]) -> Iterator[None]:
        """While the block runs, that training does, too."""
        self.running.append(training)
        try:
            yield
        finally:
            self.running.remove(training)


MARKS = Marks()
