"""What the profiler itself costs, collector by collector: the report says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from time import perf_counter_ns

from summarykit.profiler.names import NAMES
from summarykit.profiler.recording import Category
from summarykit.profiler.tape import Tape

_PROFILER = NAMES.number("profiler", Category.OVERHEAD)


@dataclass
class Cost:
    """What something cost.

    Attributes:
        calls: how often it ran.
        ns: nanoseconds of processor time in them; where a thread wakes for them, of that, too.
        start_ns: nanoseconds that starting took, of the training thread.
        stop_ns: the same of stopping.
    """

    calls: int = 0
    ns: int = 0
    start_ns: int = 0
    stop_ns: int = 0

    @contextmanager
    def starting(self, tape: Tape) -> Iterator[None]:
        """Meter what starts it, and record it as a span."""
        begun = perf_counter_ns()
        yield
        self.start_ns += _overhead(tape, begun)

    @contextmanager
    def stopping(self, tape: Tape) -> Iterator[None]:
        """Meter what stops it, and record it as a span."""
        begun = perf_counter_ns()
        yield
        self.stop_ns += _overhead(tape, begun)


def _overhead(tape: Tape, begun: int) -> int:
    end = perf_counter_ns()
    tape.spans.add((_PROFILER, get_ident(), begun, end))
    return end - begun


def ns_per_call(call: Callable[[], object], times: int = 500) -> int:
    """What one call costs at present, in nanoseconds: the best of three rounds."""
    return min(_round(call, times) for _ in range(3))


def _round(call: Callable[[], object], times: int) -> int:
    begun = perf_counter_ns()
    for _ in range(times):
        call()
    return (perf_counter_ns() - begun) // times
