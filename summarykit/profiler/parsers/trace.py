"""A Chrome trace in columns, whoever wrote it: what Kineto, JAX and others have in common.

Source of the format: "Trace Event Format", Google, 2016. Times are microseconds, integers or with three decimals.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.parsers.columns import SpanColumns
from summarykit.profiler.parsers.json_events import Event, JsonEvents
from summarykit.profiler.parsers.trace_kinds import Classify, Kinds
from summarykit.profiler.parsers.trace_lanes import TraceLanes
from summarykit.profiler.parsers.trace_times import is_time, nanoseconds
from summarykit.profiler.parsers.trace_wanted import NOTHING, Rows, Wanted
from summarykit.profiler.recording import Spans, Table
from summarykit.shapes import Array, Ints

Word = Callable[[Event, TraceLanes], str]
"""Gives the category of an event in its writer's words, from the event and what is known of the rows."""


def category_of(event: Event, _: TraceLanes) -> str:
    """What the event says itself; empty where it says nothing."""
    return event.get("cat", "")


_NOT_OTHER = ("X", "s", "t", "f")
"""Whole spans, and arrows between them, which say nothing that spans do not."""

_INSTANTS = ("i", "I", "R", "n")


class Trace:
    """Reads a trace; afterwards everything is in the attributes.

    Attributes:
        meta: what stands beside the events.
        skipped: what could not be read, by reason.
        details: arguments of the spans that were asked for: index of the span -> its arguments.
    """

    def __init__(self, path: Path, classify: Classify, wanted: Wanted = NOTHING, word: Word = category_of) -> None:
        """Read a trace.

        Args:
            path: the file.
            classify: says what a span is.
            wanted: what to keep beside the times of spans.
            word: gives the category of an event, in its writer's words.

        Raises:
            OSError: the file cannot be opened.
        """
        self._columns, self._kinds, self._lanes = SpanColumns(), Kinds(classify), TraceLanes()
        self._wanted, self._word = wanted, word
        self._counters: list[tuple[float, str, float]] = []
        self._instants, self._measures = Rows(1 + len(wanted.instant_arguments)), Rows(1 + len(wanted.measures))
        self.details: dict[int, dict[str, Any]] = {}
        events = JsonEvents(path)
        self.skipped = events.skipped
        for batch in events.batches():
            self._take(batch)
        self.meta = events.meta
        if self._lanes.unfinished:
            self.skipped["begun and not ended"] += self._lanes.unfinished

    def spans(self) -> Spans:
        """The spans; to be asked for once."""
        return self._columns.spans(self._kinds.names, self._lanes.described())

    @property
    def words(self) -> list[str]:
        """The categories of spans, in the writer's words."""
        return self._kinds.words

    def counters(self) -> Table:
        """What counter events say: ``time``, ``counter`` (its name and that of the series), ``value``."""
        time, counter, value = zip(*self._counters, strict=True) if self._counters else ((), (), ())
        return Table(time=nanoseconds(time), counter=np.array(counter, object), value=np.array(value, np.float64))

    def instants(self) -> Table:
        """The instants of the wanted name: ``time``, and each wanted argument as float64, NaN where it is no number."""
        time, *arguments = self._instants.columns()
        return Table(time=nanoseconds(time), **dict(zip(self._wanted.instant_arguments, arguments, strict=True)))

    def measures(self) -> Table:
        """Of the measured spans: ``span`` (its index), and each wanted argument as float64, NaN where it is no number."""
        span, *arguments = self._measures.columns()
        return Table(span=span.astype(np.int64), **dict(zip(self._wanted.measures, arguments, strict=True)))

    def _take(self, batch: list[Event]) -> None:
        complete = [event for event in batch if event.get("ph") == "X"]
        if len(complete) < len(batch):
            others = [event for event in batch if event.get("ph") not in _NOT_OTHER]
            self._take_instants([event for event in others if event.get("name") == self._wanted.instant and is_time(event.get("ts"))])
            for event in others:
                if event.get("ph") not in _INSTANTS:
                    self._take_other(event, complete)
        try:
            self._add(complete)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):    # some are not as they should be: look at each
            sound = [event for event in complete if _is_sound(event)]
            self.skipped["spans without a usable time or thread"] += len(complete) - len(sound)
            self._add(sound)

    def _take_instants(self, found: list[Event]) -> None:
        self._instants.add([event["ts"] for event in found], [_arguments(event) for event in found], self._wanted.instant_arguments)

    def _take_other(self, event: Event, complete: list[Event]) -> None:
        """What is no whole span; where it ends one, that goes into ``complete``."""
        phase = event.get("ph")
        if phase == "M":
            self._lanes.describe(event)
        elif not is_time(event.get("ts")):
            return
        elif phase in ("B", "E"):
            complete += self._lanes.paired(event)
        elif phase == "C":
            series = _arguments(event).items()
            self._counters += [(event["ts"], f"{event.get('name', '')} {key}", value) for key, value in series if is_time(value)]

    def _add(self, events: list[Event]) -> None:
        if not events:
            return
        start, duration = nanoseconds(map(itemgetter("ts"), events)), nanoseconds(map(itemgetter("dur"), events))
        kind = self._kinds.numbered(map(self._word, events, repeat(self._lanes)), map(itemgetter("name"), events))
        lane = self._lanes.numbered([(event.get("pid"), event.get("tid")) for event in events])
        correlation = np.array([_correlation(event) for event in events], np.int64)
        category = self._kinds.category[kind]
        self._lanes.mark_devices(lane[self._kinds.device[kind]])
        self._keep_arguments(events, category)
        self._columns.add(start, np.maximum(duration, 0), self._kinds.name[kind], category, lane, correlation)

    def _keep_arguments(self, events: list[Event], category: Array) -> None:
        before, wanted = len(self._columns), self._wanted
        measured = np.flatnonzero(category == wanted.measured)
        self._measures.add((before + measured).tolist(), [_arguments(events[place]) for place in measured.tolist()], wanted.measures)
        for place in np.flatnonzero(category == wanted.detailed).tolist():
            self.details[before + place] = {key: _arguments(events[place]).get(key) for key in wanted.details}


def steps_of(spans: Spans, chosen: Ints, numbers: Ints) -> Table:
    """The table ``steps``, by start.

    Args:
        spans: all spans.
        chosen: indexes of those that are a step.
        numbers: the step's number of each of these.
    """
    chosen, numbers = chosen[order := np.argsort(spans.start[chosen], kind="stable")], numbers[order]
    start, unknown = spans.start[chosen], np.full(len(chosen), -1)
    return Table(step=numbers, start=start, end=start + spans.duration[chosen], fp_start=unknown, bp_end=unknown)


def _correlation(event: Event) -> int:
    found = event["args"].get("correlation", -1) if "args" in event else -1
    return found if type(found) is int else -1


def _arguments(event: Event) -> dict[str, Any]:
    found = event.get("args")
    return found if isinstance(found, dict) else {}


def _is_sound(event: Event) -> bool:
    """Whether a span can be placed: repairs what can be repaired."""
    if not isinstance(event.get("args", {}), dict) or not -(2**63) <= _correlation(event) < 2**63:
        event.pop("args")
    event["name"] = str(event.get("name", ""))
    event["cat"] = str(event.get("cat", ""))
    threads = (event.get("pid"), event.get("tid"))
    return is_time(event.get("ts")) and is_time(event.get("dur")) and all(isinstance(each, str | int | float | None) for each in threads)
