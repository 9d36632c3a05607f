"""A ``with`` block as a span, and what one such mark costs."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from time import perf_counter_ns


class Timed:
    """A ``with`` block that is recorded as a span."""

    __slots__ = ("_add", "_begun", "_name")

    def __init__(self, name: int, add: Callable[[tuple[int, ...]], None]) -> None:
        self._name, self._add, self._begun = name, add, 0

    def __enter__(self) -> Timed:
        self._begun = perf_counter_ns()
        return self

    def __exit__(self, *_: object) -> None:
        self._add((self._name, get_ident(), self._begun, perf_counter_ns()))


_scratch: list[int] = []


def mark() -> None:
    """What one mark does."""
    begun = perf_counter_ns()
    _scratch.extend((0, get_ident(), begun, perf_counter_ns()))
    del _scratch[:]
