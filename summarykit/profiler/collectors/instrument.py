"""Hooks in what a program calls anyway: one set of them for a process, however many windows are open."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import get_ident
from time import perf_counter_ns
from typing import Any, ClassVar, TypeVar

from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.collectors.patches import Patches
from summarykit.profiler.locks import fork_safe
from summarykit.profiler.tape import Rows, Tape
from summarykit.training.marks import unwatched

Row = tuple[Any, ...]
_Call = TypeVar("_Call", bound=Callable[..., Any])
_lock = fork_safe()


class Instrument:
    """Installed while at least one window listens; what it records goes to all that do.

    Attributes:
        span: takes a span as (number of the name, thread, start, end).
        patches: what ``remove`` takes back.
    """

    def __init__(self) -> None:
        self.tapes: list[Tape] = []
        self._sinks: list[Callable[[Row], None]] = []
        self.span: Callable[[Row], None] = unwatched
        self.patches = Patches()

    def install(self) -> None:
        """Put the hooks in place."""
        raise NotImplementedError

    def remove(self) -> None:
        """Take the hooks away."""
        self.patches.undo()

    def attach(self, tape: Tape, spans: Rows) -> None:
        """Record into this tape, too, and spans into these rows of it."""
        with _lock:
            self.tapes, self._sinks = [*self.tapes, tape], [*self._sinks, spans.add]
            self._route()
            if len(self.tapes) == 1:
                self.install()

    def detach(self, tape: Tape) -> None:
        """Record into this tape no longer."""
        with _lock:
            left = [place for place, one in enumerate(self.tapes) if one is not tape]
            self.tapes, self._sinks = [self.tapes[place] for place in left], [self._sinks[place] for place in left]
            self._route()
            if not self.tapes:
                self.remove()

    def row(self, table: str, columns: dict[str, str], row: Row) -> None:
        """Add a row to a table of every tape."""
        for tape in self.tapes:
            tape.table(table, columns).add(row)

    def timed(self, name: int) -> Callable[[_Call], _Call]:
        """Make of a function one that does the same and is recorded as a span."""

        def around(original: _Call) -> _Call:
            """The call, measured."""

            @functools.wraps(original)
            def call(*args: Any, **kwargs: Any) -> Any:
                """What was called, and how long it took."""
                begun = perf_counter_ns()
                try:
                    return original(*args, **kwargs)
                finally:
                    self.span((name, get_ident(), begun, perf_counter_ns()))

            return call    # type: ignore[return-value]  # it takes and gives the same

        return around

    def _route(self) -> None:
        sinks = self._sinks
        self.span = unwatched if not sinks else sinks[0] if len(sinks) == 1 else functools.partial(_to_all, sinks)


def _to_all(sinks: list[Callable[[Row], None]], row: Row) -> None:
    for sink in sinks:
        sink(row)


class Hooked(Collector):
    """A collector that is an instrument."""

    instrument: ClassVar[Instrument]
    """The one of this process."""

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self._spans = site.tape.spans_of(self.key)

    @property
    def marks(self) -> int:
        """See ``Collector``."""
        return self._spans.taken

    def start(self) -> None:
        """See ``Collector``."""
        self.instrument.attach(self.site.tape, self._spans)

    def stop(self) -> None:
        """See ``Collector``."""
        self.instrument.detach(self.site.tape)

    def forget(self) -> None:
        """See ``Collector``."""
        self.stop()
