"""Two files of one writer, one per format, hold the same points: each is taken once, and what one lost comes from the other."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from summarykit.formats import names
from summarykit.formats.origin import Origin
from summarykit.reading.damage import Damage
from summarykit.reading.source import Key, Source
from summarykit.reading.track import Track, concatenate
from summarykit.shapes import Ints


@dataclass(frozen=True)
class Unit:
    """The files of one writer and one rotation: one, or two twins with MindSpore's first."""

    sources: tuple[Source, ...]

    @property
    def origin(self) -> Origin | None:
        """Who wrote them."""
        return next((source.origin for source in self.sources if source.origin), None)

    @property
    def keys(self) -> list[Key]:
        """Kind and tag of everything in them."""
        return list(dict.fromkeys(key for source in self.sources for key in source.keys))

    def track(self, key: Key) -> Track:
        """The points of one kind and tag, each once."""
        held = [source for source in self.sources if key in source.keys]
        tracks = [source.track(key) for source in held]
        return tracks[0] if len(tracks) == 1 else merge(tracks[0], tracks[1], *map(is_sound, held))

    def losses(self) -> list[Damage]:
        """Damage whose records no twin has either."""
        if len(self.sources) == 1:
            return self.sources[0].damage
        one, other = self.sources
        return _lost(one, other) + _lost(other, one)


def units(sources: Iterable[Source]) -> list[Unit]:
    """Pair the twins among files of one directory."""
    by_stem: dict[object, list[Source]] = {}
    for source in sources:
        name = names.parse(source.path.name)
        by_stem.setdefault(name.twin if name else source.path, []).append(source)
    found = []
    for alike in by_stem.values():
        first = {source.format: source for source in sorted(alike, key=lambda source: source.format)}
        found.append(Unit(tuple(first.values())))
        found += [Unit((source,)) for source in alike if source not in first.values()]
    return found


def is_sound(source: Source) -> bool:
    """Whether everything that was written into a file is there."""
    return not source.damage and source.truncated is None


def merge(one: Track, other: Track, one_sound: bool, other_sound: bool) -> Track:
    """Each (step, occurrence) once: from ``one`` where it has it."""
    if one_sound and len(one) >= len(other):
        return one
    if other_sound and len(other) >= len(one):
        return other
    mine, theirs = _occurrences(one.steps, other.steps)
    joined = concatenate([one, other.take(~np.isin(theirs, mine))])
    return joined.take(np.argsort(joined.wall_times, kind="stable"))


def _occurrences(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """A number for each (step, how many times that step came before), the same in both."""
    _, step = np.unique(np.concatenate([one, other]), return_inverse=True)
    counts = [_count_before(part) for part in (step[: len(one)], step[len(one) :])]
    width = max((int(count.max()) for count in counts if len(count)), default=0) + 1
    return step[: len(one)] * width + counts[0], step[len(one) :] * width + counts[1]


def _count_before(values: Ints) -> Ints:
    """For each value, how many equal ones stand before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.searchsorted(ordered, ordered, side="left")
    counts = np.empty(len(values), np.int64)
    counts[order] = np.arange(len(values)) - first
    return counts


def _lost(source: Source, twin: Source) -> list[Damage]:
    """Damage of a file that its twin does not make good: fewer points stand there, between those that both have, than were lost here."""
    whole = is_sound(twin)
    if not source.damage or (whole and _missing(source, twin) >= sum(damage.records for damage in source.damage)):
        return []
    offsets, mine = _sequence(source)
    theirs = _sequence(twin)[1]
    place, held = {point: number for number, point in enumerate(theirs)}, set(mine)
    gained = np.cumsum([0] + [point not in held for point in theirs])
    lost = []
    for damage in source.damage:
        at = bisect.bisect_left(offsets, damage.offset)
        if whole and not at:
            continue    # what a file begins with is no point
        begin = next((place[point] + 1 for point in reversed(mine[:at]) if point in place), 0)
        end = next((place[point] for point in mine[at:] if point in place), len(theirs))
        if gained[end] - gained[begin] < damage.records:
            lost.append(damage)
    return lost


def _missing(source: Source, twin: Source) -> int:
    """How many points a file has less than its twin, of the kinds that both formats have (some are written into one of them only)."""
    held = set(source.keys)
    return sum(max(0, len(twin.track(key)) - (len(source.track(key)) if key in held else 0)) for key in twin.keys)


_Place = tuple[Key, int, int]


def _sequence(source: Source) -> tuple[list[int], list[_Place]]:
    """Offset, and (key, step, occurrence), of every point in the order of the file."""
    found: list[tuple[int, _Place]] = []
    for key in source.keys:
        track = source.track(key)
        _, steps = np.unique(track.steps, return_inverse=True)
        rows = zip(track.offsets.tolist(), track.steps.tolist(), _count_before(steps).tolist(), strict=True)
        found += [(offset, (key, step, count)) for offset, step, count in rows]
    found.sort(key=lambda row: row[0])
    return [offset for offset, _ in found], [point for _, point in found]
