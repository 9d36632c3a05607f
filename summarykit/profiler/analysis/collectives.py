"""Collectives of several ranks, matched: the first of a name on one rank is the first of that name on every other."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.choosing import on_devices
from summarykit.profiler.recording import Category, Recording, Table
from summarykit.shapes import Array, Ints


class Matched:
    """Collectives that every rank took part in, by the start on the first rank.

    Attributes:
        name: object, shape ``[n]``.
        start: int64 ns of the recording's own clock, shape ``[n, ranks]``.
        duration: int64 ns, shape ``[n, ranks]``.
    """

    def __init__(self, recordings: list[Recording]) -> None:
        """Match them. What some rank lacks at its end is left out."""
        found = [_by_name(recording) for recording in recordings]
        common = set.intersection(*(set(each) for each in found)) if found else set()
        rows = [_rows(name, [each[name] for each in found]) for name in sorted(common)]
        name, start, duration = zip(*rows, strict=True) if rows else ([np.empty(0, object)], [_nothing(found)], [_nothing(found)])
        starts = np.concatenate(start)
        order = np.argsort(starts[:, 0], kind="stable") if starts.shape[1] else np.arange(0)
        self.name, self.start, self.duration = np.concatenate(name)[order], starts[order], np.concatenate(duration)[order]

    def table(self) -> Table:
        """Who came last.

        Returns:
            For each collective: ``name``, ``last`` (place of the rank that came last), ``wait`` (ms that all others waited for it
            together), ``lateness`` (ms by which it came after the last but one).
        """
        late = np.sort(self.duration, axis=1)
        wait = (self.duration - late[:, :1]).sum(axis=1) if late.size else np.empty(0)
        lateness = late[:, 1] - late[:, 0] if late.shape[1] > 1 else np.zeros(len(late))
        last = self.duration.argmin(axis=1) if late.size else np.empty(0, np.int64)
        return Table(name=self.name, last=last, wait=wait / 1e6, lateness=lateness / 1e6)


def _by_name(recording: Recording) -> dict[str, tuple[Ints, Ints]]:
    """Start and duration of the collectives of each name, in order: as noted, else from spans of the host, else of the device."""
    noted = recording.tables.get("collectives", Table())
    return _noted(noted) if noted.rows and "end" in noted else _seen(recording)


def _noted(found: Table) -> dict[str, tuple[Ints, Ints]]:
    """Those of a table that has ``sequence``, ``group``, ``operation``, ``start``, ``end``."""
    order = np.lexsort((found["sequence"], found["group"]))
    names = np.array([f"{name} of group {group}" for name, group in zip(found["operation"], found["group"], strict=True)], object)[order]
    start, duration = found["start"][order], (found["end"] - found["start"])[order]
    return {name: (start[names == name], duration[names == name]) for name in sorted(set(names))}


def _seen(recording: Recording) -> dict[str, tuple[Ints, Ints]]:
    spans = recording.spans
    collective, device = spans.of(Category.COMMUNICATION), on_devices(spans)
    chosen = np.flatnonzero(collective & ~device)
    chosen = _outermost(recording, chosen if len(chosen) else np.flatnonzero(collective))
    return {
        spans.names[name]: (spans.start[here], spans.duration[here])
        for name in np.unique(spans.name[chosen]).tolist()
        for here in [chosen[spans.name[chosen] == name]]
    }


def _outermost(recording: Recording, chosen: Ints) -> Ints:
    """One span for each collective, by start: what calls another one of its own is that one."""
    spans = recording.spans
    chosen = chosen[np.argsort(spans.start[chosen], kind="stable")]
    end = spans.start[chosen] + spans.duration[chosen]
    inside = np.zeros(len(chosen), np.bool_)
    for lane in np.unique(spans.lane[chosen]).tolist():
        here = np.flatnonzero(spans.lane[chosen] == lane)
        reach = np.maximum.accumulate(end[here])
        inside[here[1:]] = end[here[1:]] <= reach[:-1]
    return chosen[~inside]


def _rows(name: str, ranks: list[tuple[Ints, Ints]]) -> tuple[Array, Ints, Ints]:
    count = min(len(start) for start, _ in ranks)
    starts, durations = (np.stack([columns[which][:count] for columns in ranks], axis=1) for which in (0, 1))
    return np.full(count, name, object), starts, durations


def _nothing(ranks: list[dict[str, tuple[Ints, Ints]]]) -> Ints:
    return np.empty((0, len(ranks)), np.int64)
