"""The steps of a window: where each begins and ends, as told by the loop, by a callback or by hand."""

from __future__ import annotations

from collections.abc import Iterator
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from summarykit.profiler.collectors.collector import StepListener
from summarykit.profiler.phases import DATA_WAIT
from summarykit.profiler.tape import Tape
from summarykit.training.marks import MARKS
from summarykit.training.training import Training


class Steps:
    """Turns marks into rows.

    A step goes from the end of the preceding one, or from where the wait for its batch began, to its own end. A ``Loop`` tells
    most exactly; what a callback says of a step that the loop has told of is not needed. A wait for a batch is a phase of its own.

    Attributes:
        number: the open step; None between steps.
        last: the last step that was recorded.
        count: steps recorded.
    """

    def __init__(self, tape: Tape, listeners: list[StepListener], quiet: bool = False) -> None:
        """Take where the rows go, and who is told of each step: nobody, as long as it is ``quiet``."""
        self.number: int | None = None
        self.last: int | None = None
        self.count = 0
        self._listeners, self._told_later = ([], listeners) if quiet else (listeners, [])
        self._row, self._span = tape.steps.add, tape.spans.add
        self._start = self._begun = self._waits = self._from = 0
        self._edge = self._epoch = 0
        self._by_loop = False
        self._told: int | None = None
        self._training: Any = None

    def start(self) -> None:
        """Have the loop's marks come here."""
        self._edge = perf_counter_ns()
        self._training = MARKS.training
        _watch((*_watching, self))

    def stop(self) -> None:
        """Let go of the marks."""
        _watch(tuple(steps for steps in _watching if steps is not self))

    def takes(self, training: Any) -> bool:
        """Whether a training's marks count here: not where it runs within an open step of another."""
        if training is not self._training and (self.number is None or self._training is None or not self._training.in_step):
            self._training = training
        return training is self._training

    def waiting(self, phase: Any) -> None:
        """The loop goes for the next (micro-)batch of training."""
        now = perf_counter_ns()
        self._by_loop = True
        if not phase.in_step:
            if self.number is not None and self.number > phase.done:    # it was left, and never completed
                self.number = None
            self._close(now)
            now = self._edge = perf_counter_ns() if self._listeners else now
            if not self._from or phase.epoch != self._epoch:
                self._from, self._epoch = now, phase.epoch
        self._waits = now

    def fetched(self) -> None:
        """It has come."""
        if self._waits:
            self._span((DATA_WAIT, get_ident(), self._waits, perf_counter_ns()))

    def begin(self, step: int) -> None:
        """The body of a step begins."""
        if step == self.number:
            return
        self._close(perf_counter_ns())
        self._start, self._from = self._from or self._edge, 0
        for listener in self._listeners:
            listener.step_begin(step)
        self.number, self._begun = step, perf_counter_ns()

    def end(self, step: int) -> None:
        """A step has ended: says a callback. A loop will say it, too, and after all callbacks."""
        self._told = step
        if not self._by_loop:
            self._close(perf_counter_ns(), step)

    def between(self) -> None:
        """What comes before the next step is not part of it: an evaluation, the end of an epoch."""
        self._edge, self._from = perf_counter_ns(), 0

    def step(self, step: int | None = None, *, more: bool = True) -> None:
        """By hand: a step ends here, and, if there is ``more``, the next one begins. In a ``Loop`` that is the loop's to say."""
        if self._by_loop:
            self._told = self.number
            return
        now = perf_counter_ns()
        if self.number is None:
            self._start = self._begun = self._edge
            self.number = (self.last or 0) + 1
        self._close(now, step)
        if more:
            self.begin((self.last or 0) + 1)
            self._start = self._begun if self._listeners else self._start    # what they take is no part of a step

    def settle(self) -> None:
        """The window ends: a step that has ended, but for callbacks that the loop has yet to call, ends here."""
        if self._told == self.number:
            self._close(perf_counter_ns())

    def restart(self) -> None:
        """Forget what came so far, and be quiet no longer."""
        self._listeners = self._told_later
        self.number = None
        self.count = self._waits = self._from = 0
        self._start = self._begun = self._edge = perf_counter_ns()

    def _close(self, now: int, step: int | None = None) -> None:
        if self.number is None:
            return
        self.last = self.number if step is None else step
        self.number = None
        self.count += 1
        self._edge = now
        self._row((self.last, self._start, self._begun, now))
        for listener in self._listeners:    # what they take is no part of a step
            listener.step_end(self.last)
            self._edge = perf_counter_ns()


_watching: tuple[Steps, ...] = ()
_begin_step = Training.begin_step


def _watch(watching: tuple[Steps, ...]) -> None:
    """Have the marks of the loop go to these."""
    global _watching
    _watching = watching
    MARKS.next = _watched_next if watching else next
    Training.begin_step = _watched_begin if watching else _begin_step    # type: ignore[method-assign,assignment]


def _watched_next(batches: Iterator[Any], training: Any) -> Any:
    """What the loop gets its batches by."""
    watching = [steps for steps in _watching if steps.takes(training)]
    for steps in watching:
        steps.waiting(training)
    try:
        return next(batches, training)
    finally:
        for steps in watching:
            steps.fetched()


def _watched_begin(training: Training, batch: Any) -> None:
    for steps in _watching:
        if steps.takes(training):
            steps.begin(training.done + 1)
    _begin_step(training, batch)
