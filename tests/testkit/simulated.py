"""A training that is made up, with faults of known strength: what it records, and how long its steps are with and without them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from testkit.recordings import HOST, Span, recording

from summarykit.profiler.recording import Category, Recording, Table

MAIN, LOADS, WAITS, COMPUTES, WRITES = range(5)
FRAMES = (
    *("main (train.py:10)", "Images.__getitem__ (data.py:7)", "synchronize (train.py:31)", "Net.forward (net.py:5)", "write_csv (io.py:3)"),
)
PERIOD = 10.0


@dataclass(frozen=True)
class Training:
    """One way to train; times in ms.

    Attributes:
        work: of one operator for one sample.
        call: of calling an operator.
        batch: samples of a step.
        operators: of forward; backward has as many.
        load: of a batch.
        hand_over: what the loader takes for a batch of any size.
        workers: that load it; 0: the thread that trains does.
        sync: that the loop waits for the device in each step.
        seen: whether that call is known by name, or only by samples.
        logging: in each step.
        written: the same in a function that nobody knows, so that only samples tell.
        pause: of the garbage collector, in every fifth step.
    """

    work: float = 0.05
    call: float = 0.007
    batch: int = 16
    operators: int = 12
    load: float = 0.2
    hand_over: float = 0.05
    workers: int = 0
    sync: float = 0.0
    seen: bool = True
    logging: float = 0.0
    written: float = 0.0
    pause: float = 0.0
    steps: int = 60
    seed: int = 0

    def without(self, **faults: Any) -> Training:
        """The same with other settings."""
        return replace(self, **faults)

    def step_time(self) -> float:
        """Mean of the steps in ms."""
        return float(np.mean([end - start for _, start, end in _Clock(self).steps]))

    def recorded(self, **meta: Any) -> Recording:
        """What a profiler records of it."""
        return _Clock(self).recording(meta)


class _Clock:
    """Goes through the steps and notes what is on."""

    def __init__(self, training: Training) -> None:
        self.now, self.spans, self.steps = 0.0, list[Span](), list[tuple[int, float, float]]()
        self._on: list[tuple[float, int]] = [(0.0, MAIN)]
        self._training, self._random = training, np.random.default_rng(training.seed)
        for step in range(1, training.steps + 1):
            start = self.now
            self._step(step, training)
            self.steps.append((step, start, self.now))

    def _step(self, step: int, of: Training) -> None:
        begun = self.now
        if of.workers == 0:
            self._spend("data wait", Category.PHASE, of.load + of.hand_over, LOADS)
        self._spend("forward", Category.PHASE, 0.0, COMPUTES, self._operators)
        self._spend("backward", Category.PHASE, 0.0, COMPUTES, self._operators)
        self._spend("optimizer", Category.PHASE, 0.3)
        if of.pause and step % 5 == 0:
            self._spend("garbage collection, generation 2", Category.GC, of.pause)
        self._spend("Tensor.item" if of.seen else "", Category.RUNTIME, of.sync, WAITS)
        self._spend("logging", Category.PHASE, of.logging)
        self._spend("", Category.PHASE, of.written, WRITES)
        if of.workers:    # the batch after this one is loaded meanwhile
            self._spend("data wait", Category.PHASE, max(of.load / of.workers - (self.now - begun), 1.2), MAIN)

    def _operators(self) -> None:
        of = self._training
        for _ in range(of.operators):
            self.now += 0.003
            self._spend("aten::op", Category.HOST_OP, of.call + of.work * of.batch)

    def _spend(self, name: str, category: Category, time: float, stack: int = MAIN, within: Any = None) -> None:
        if not (time or within):
            return
        start = self.now
        self._on.append((start, stack))
        if within:
            within()
        self.now += time * self._random.uniform(0.95, 1.05)
        self._on.append((self.now, MAIN))
        if name and (category != Category.HOST_OP or len(self.steps) < 20):
            self.spans.append((name, category, 0, start, self.now - start))

    def recording(self, meta: dict[str, Any]) -> Recording:
        time = np.arange(self._random.uniform(0, PERIOD), self.now, PERIOD)
        place = np.searchsorted([moment for moment, _ in self._on], time, side="right") - 1
        stack = np.array([stack for _, stack in self._on])[place]
        tables = {
            "samples": Table(time=np.rint(time * 1e6).astype(np.int64), lane=np.zeros(len(time), np.int64), stack=stack),
            "stacks": Table(parent=np.array([-1, *[MAIN] * (len(FRAMES) - 1)]), frame=np.array(FRAMES, object)),
        }
        loader = {"num_workers": self._training.workers, "batch_size": self._training.batch, "dataset": "Images"}
        collected = {"stacks": {"period_ns": 10_000_000}, "input": {"loaders": [loader]}, **meta}
        return recording(self.spans, self.steps, lanes=(HOST,), tables=tables, meta={"collected": collected})
