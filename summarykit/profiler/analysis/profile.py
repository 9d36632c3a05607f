"""One recording, analysed: each table is made when it is first asked for, and kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from summarykit.profiler.analysis import device
from summarykit.profiler.analysis.causes import causes
from summarykit.profiler.analysis.counters import counters
from summarykit.profiler.analysis.idle import idle
from summarykit.profiler.analysis.input import input_wait
from summarykit.profiler.analysis.input_shapes import input_shapes
from summarykit.profiler.analysis.memory import memory, memory_times
from summarykit.profiler.analysis.operators import operators
from summarykit.profiler.analysis.parts import latest
from summarykit.profiler.analysis.phases import classic, phases
from summarykit.profiler.analysis.pipeline import pipeline
from summarykit.profiler.analysis.python_code import python_code
from summarykit.profiler.analysis.sampled import Samples
from summarykit.profiler.analysis.steps import step_changes, step_times, steps
from summarykit.profiler.recording import Recording, Table


class Profile:
    """Where the time of one process went.

    Attributes:
        recording: what was recorded.
    """

    TABLES = (
        *("steps", "phases", "classic", "split", "changes", "pipeline", "operators", "python"),
        *("devices", "idle", "queue", "memory", "counters", "input_shapes"),
    )
    """The names of all tables."""

    def __init__(self, recording: Recording) -> None:
        """Make a profile of a recording."""
        self.recording = recording

    def table(self, name: str) -> Table:
        """The table of one of the names in ``TABLES``.

        Raises:
            ValueError: there is no such table.
        """
        if name not in self.TABLES:
            raise ValueError(f"name: {name!r} is no table; allowed: {', '.join(self.TABLES)}")
        found: Table = getattr(self, name)
        return found

    @cached_property
    def window(self) -> tuple[int, int]:
        """What is looked at, in ns: from the first step to the last, or everything where there are no steps."""
        spans = self.recording.spans
        if self.steps.rows:
            return int(self.steps["start"][0]), int(self.steps["end"].max())
        if not len(spans):
            return 0, 0
        return int(spans.start.min()), latest(spans)

    @cached_property
    def steps(self) -> Table:
        """The steps: ``step``, ``start``, ``end`` (ns), ``duration`` (ms)."""
        return steps(self.recording)

    @cached_property
    def step_times(self) -> dict[str, Any]:
        """Their lengths in numbers; see ``steps.step_times``."""
        return step_times(self.steps)

    @cached_property
    def usual(self) -> Table:
        """The steps without the long ones at the beginning."""
        return self._later(self.steps)

    @property
    def usual_phases(self) -> Table:
        """The phases of these steps."""
        return self._later(self.phases)

    def _later(self, rows: Table) -> Table:
        return Table({name: column[self.step_times.get("first", 0) :] for name, column in rows.items()})

    @property
    def traced(self) -> int:
        """Of how many steps the operators are known: PyTorch's trace ends before a long window does."""
        collected = self.recording.meta.get("collected")
        trace = collected.get("kineto") if isinstance(collected, dict) else None
        told = trace.get("steps") if isinstance(trace, dict) else None
        return min(told, self.steps.rows) if isinstance(told, int) and told > 0 else self.steps.rows

    @cached_property
    def seen(self) -> int:
        """In how many steps something ran on a device: its log may be shorter than the training."""
        ran = sum(self.split[name] for name in ("kernel", "memcpy", "memset", "communication"))
        return int(np.count_nonzero(ran))

    @property
    def rest(self) -> str:
        """What the phase ``other`` is to be called: there are devices that do not tell forward and backward apart."""
        told = self.phases["forward"].any() or self.phases["backward"].any()
        return "other" if told or not self.classic["fp_and_bp"].any() else "forward, backward, other"

    @cached_property
    def causes(self) -> Table:
        """What each of the usual steps waits for and need not; see ``causes.causes``."""
        return causes(self.recording, self.usual)

    @cached_property
    def samples(self) -> Samples:
        """Where Python was in the thread that trains."""
        return Samples(self.recording)

    @cached_property
    def changes(self) -> Table:
        """Where their length changes for good; see ``steps.step_changes``."""
        return step_changes(self.steps)

    @cached_property
    def phases(self) -> Table:
        """Data wait, transfer, forward, backward, optimizer, communication, logging of each step; see ``phases.phases``."""
        return phases(self.recording, self.steps)

    @cached_property
    def classic(self) -> Table:
        """Iteration interval, forward and backward, tail of each step; see ``phases.classic``."""
        return classic(self.recording, self.steps)

    @cached_property
    def split(self) -> Table:
        """What is on in each step, from kernels to nothing; see ``device.split``."""
        return device.split(self.recording, self.steps)

    @cached_property
    def input(self) -> dict[str, Any]:
        """Whether training waits for its input; see ``input.input_wait``."""
        return input_wait(self.phases, self.steps)

    @cached_property
    def pipeline(self) -> Table:
        """The stages of the input; see ``pipeline.pipeline``."""
        return pipeline(self.recording)

    @cached_property
    def operators(self) -> Table:
        """Operators of host and device; see ``operators.operators``."""
        return operators(self.recording)

    @cached_property
    def python(self) -> Table:
        """Python functions and lines; see ``python_code.python_code``."""
        return python_code(self.recording)

    @cached_property
    def devices(self) -> Table:
        """What each device did; see ``device.device_use``."""
        return device.device_use(self.recording, self.window)

    @cached_property
    def idle(self) -> Table:
        """Why devices had nothing to do; see ``idle.idle``."""
        return idle(self.recording, self.window)

    @cached_property
    def queue(self) -> Table:
        """How far ahead of its devices the host was; see ``device.queue``."""
        return device.queue(self.recording)

    @cached_property
    def memory(self) -> Table:
        """Memory by device; see ``memory.memory``."""
        return memory(self.recording, self.steps)

    @cached_property
    def memory_times(self) -> Table:
        """Memory over time; see ``memory.memory_times``."""
        return memory_times(self.recording)

    @cached_property
    def input_shapes(self) -> Table:
        """Operators by the shapes of their inputs; see ``input_shapes.input_shapes``."""
        return input_shapes(self.recording)

    @cached_property
    def counters(self) -> Table:
        """What was sampled; see ``counters.counters``."""
        return counters(self.recording)
