"""Which steps are recorded: periods that repeat."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum

from summarykit.whole import check_integer


class Action(Enum):
    """What happens in a step."""

    NONE = 0
    WARMUP = 1    # everything is started, but nothing is recorded yet
    RECORD = 2


@dataclass(frozen=True)
class Schedule:
    """Made by ``schedule``; called with the number of a step, from 0, it says what happens in it."""

    skip_first: int
    wait: int
    warmup: int
    active: int
    repeat: int
    skip_first_wait: bool

    def __call__(self, step: int) -> Action:
        """What happens in a step, counted from 0."""
        past = step - self.skip_first + (self.wait if self.skip_first_wait else 0)
        period, place = divmod(past, self.wait + self.warmup + self.active)
        if step < self.skip_first or (self.repeat and period >= self.repeat) or place < self.wait:
            return Action.NONE
        return Action.WARMUP if place < self.wait + self.warmup else Action.RECORD

    def until(self, step: int) -> int:
        """The next step at which something else may happen than in this one: another action, or another period."""
        if step < self.skip_first:
            return self.skip_first
        past = step - self.skip_first + (self.wait if self.skip_first_wait else 0)
        period, place = divmod(past, self.wait + self.warmup + self.active)
        if self.repeat and period >= self.repeat:
            return sys.maxsize
        edges = (self.wait, self.wait + self.warmup, self.wait + self.warmup + self.active)
        return step + next(edge for edge in edges if edge > place) - place


def schedule(
    skip_first: int = 0, wait: int = 0, warmup: int = 0, active: int = 1, repeat: int = 0, *, skip_first_wait: bool = False
) -> Schedule:
    """Record ``active`` steps of every ``wait + warmup + active``: each period is a window of its own.

    Args:
        skip_first: steps before the first period.
        wait: steps of a period in which nothing happens.
        warmup: steps after them in which the collectors run already, but which are not recorded.
        active: steps that are recorded, 1 or more.
        repeat: how many periods there are; 0: until the training ends.
        skip_first_wait: True: the first period has no ``wait``. So ``schedule(skip_first=100, wait=4990, active=10,
            skip_first_wait=True)`` records steps 101 to 110, then ten of every 5,000.

    Raises:
        TypeError, ValueError: a count is no integer or too small.
    """
    given = {"skip_first": skip_first, "wait": wait, "warmup": warmup, "active": active, "repeat": repeat}
    counts = {name: check_integer(name, value, int(name == "active")) for name, value in given.items()}
    if not isinstance(skip_first_wait, (bool, int)):
        raise TypeError(f"skip_first_wait: True or False is needed, got {skip_first_wait!r}")
    return Schedule(**counts, skip_first_wait=bool(skip_first_wait))
