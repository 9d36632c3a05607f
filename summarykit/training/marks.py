"""Where a loop stands, told to whoever watches the time: while nobody does, a mark is an empty call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def unwatched(*_: Any) -> None:
    """What every mark is while nobody watches."""


class Marks:
    """What the loop of a training calls; the profiler puts its own methods here while a window is open.

    Attributes:
        waiting: called with the phase when it goes for the next (micro-)batch.
        fetched: called when that has come.
        begin: called with the number of a step of training that begins.
    """

    __slots__ = ("begin", "fetched", "waiting")

    def __init__(self) -> None:
        self.waiting: Callable[[Any], None] = unwatched
        self.fetched: Callable[[], None] = unwatched
        self.begin: Callable[[int], None] = unwatched


MARKS = Marks()
