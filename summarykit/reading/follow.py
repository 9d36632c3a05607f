"""Points of files that are being written, as they come."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

from summarykit.formats import names
from summarykit.reading.files import Files
from summarykit.reading.reader import Reader
from summarykit.reading.source import Key, Source
from summarykit.reading.track import Track
from summarykit.shapes import Point

News = dict[Key, Track]


def follow(files: Files, *, existing: bool, interval: float, stop: Callable[[], bool] | None) -> Iterator[Point]:
    """Look again and again; see ``Run.follow``."""
    reader, ledger = Reader(files), Ledger()
    wanted = existing
    while True:
        last = stop is not None and stop()
        for source, news in files.poll():
            for key, step, wall_time, value in _in_order(news):
                if ledger.is_new(source, (*key, step)) and wanted:
                    yield Point(*key, step, wall_time, reader.shape(value))
            ledger.done_with(source)
        if last:
            return
        wanted = True
        time.sleep(interval)


def _in_order(news: News) -> list[tuple[Key, int, float, object]]:
    """The points of one file as they stand in it."""
    rows = [
        (offset, key, step, wall_time, value)
        for key, track in news.items()
        for offset, step, wall_time, value in zip(
            track.offsets.tolist(), track.steps.tolist(), track.wall_times.tolist(), track.values.tolist(), strict=True
        )
    ]
    rows.sort(key=lambda row: row[0])
    return [row[1:] for row in rows]


class Ledger:
    """Tells whether a point was given out already, from its twin's file.

    For each pair of twins it keeps by how many points of one kind, tag and step the first is ahead of the second: no more than lies between
    them.
    """

    def __init__(self) -> None:
        self._first: dict[object, Source] = {}
        self._ahead: dict[object, Counter[tuple[str, str, int]]] = {}

    def is_new(self, source: Source, point: tuple[str, str, int]) -> bool:
        """Enter a point (kind, tag, step) of a file."""
        twin = _twin(source)
        first = self._first.setdefault(twin, source)
        if source is not first and twin not in self._ahead:
            self._ahead[twin] = _everything_in(first)
        ahead = self._ahead.get(twin)
        if ahead is None:
            return True
        sign = 1 if source is first else -1
        lead = ahead[point] * sign
        ahead[point] += sign
        if not ahead[point]:
            del ahead[point]
        return lead >= 0

    def done_with(self, source: Source) -> None:
        """All new points of a file are entered: if it is the first of its name, a twin that appears later is compared with all of it."""
        self._first.setdefault(_twin(source), source)


def _twin(source: Source) -> object:
    name = names.parse(source.path.name)
    return name.twin if name else source.path


def _everything_in(source: Source) -> Counter[tuple[str, str, int]]:
    found: Counter[tuple[str, str, int]] = Counter()
    for key in source.keys:
        found.update((*key, step) for step in source.track(key).steps.tolist())
    return found
