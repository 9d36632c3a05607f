"""Who continues whom: the files of a run as segments, one per writer, from the oldest to the newest."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from summarykit.reading.source import Key
from summarykit.reading.track import Track, concatenate
from summarykit.reading.twins import Unit

_STAMP = re.compile(r"(?:summary|tfevents)\.(\d+)")
_RANK = re.compile(r"summary\.\d+\.(\d+)\.")
_EVERYTHING = 1 << 62


@dataclass(frozen=True)
class Part:
    """Records of a unit from offset ``begin`` up to ``end``: all of them, unless a restart within the file divides it."""

    unit: Unit
    begin: int = 0
    end: int = _EVERYTHING

    def track(self, key: Key) -> Track:
        """Its points of one kind and tag."""
        track = self.unit.track(key)
        if (self.begin, self.end) == (0, _EVERYTHING):
            return track
        return track.take(slice(*np.searchsorted(track.offsets, [self.begin, self.end]).tolist()))


@dataclass
class Segment:
    """What one writer wrote.

    Attributes:
        parts: in its order.
        rank: the rank of its process.
        resume: the first step it recorded anew, where it continues older segments.
        resumption: what those share that continue older segments together.
        limit: the first step that a later segment recorded anew; None where none did.
    """

    parts: list[Part] = field(default_factory=list)
    rank: int = 0
    resume: int | None = None
    resumption: str = ""
    limit: int | None = None

    def track(self, key: Key) -> Track | None:
        """Its points of one kind and tag; None where it has none."""
        tracks = [part.track(key) for part in self.parts if key in part.unit.keys]
        return concatenate(tracks) if tracks else None


def segments(units: Iterable[Unit]) -> list[Segment]:
    """Group the rotated files of each writer; oldest first."""
    by_session: dict[str, Segment] = {}
    found: list[Segment] = []
    for unit in sorted(units, key=_age):
        origin = unit.origin
        if origin is None:
            found += _of_others(unit)
            continue
        segment = by_session.get(origin.session)
        if segment is None:
            segment = by_session[origin.session] = Segment(rank=origin.rank, resumption=origin.resumption)
            found.append(segment)
        segment.parts.append(Part(unit))
        segment.resume = origin.resume_step if segment.resume is None else segment.resume
    for segment in by_session.values():
        segment.parts.sort(key=_rotation)
    _limit(found)
    return found


def _limit(found: list[Segment]) -> None:
    """Mark what each hides in older ones of its rank, unless the same resumption is theirs, too."""
    limits: dict[int, dict[str, int]] = defaultdict(dict)
    for segment in reversed(found):
        of_rank = limits[segment.rank]
        segment.limit = min((step for name, step in of_rank.items() if not name or name != segment.resumption), default=None)
        if segment.resume is not None:
            of_rank[segment.resumption] = min(segment.resume, of_rank.get(segment.resumption, segment.resume))


def _age(unit: Unit) -> tuple[int, str]:
    name = unit.sources[0].path.name
    return stamp_of(name), name


def stamp_of(name: str) -> int:
    """When a file was begun, by its name, in seconds since the epoch; 0 where it does not tell."""
    stamp = _STAMP.search(name)
    return int(stamp[1]) if stamp else 0


def _rotation(part: Part) -> int:
    origin = part.unit.origin
    return origin.segment if origin else 0


def _of_others(unit: Unit) -> list[Segment]:
    """A file whose writer is not known: one segment, or one per START of a session in it."""
    source = unit.sources[0]
    name = _RANK.search(source.path.name)
    rank = int(name[1]) if name else 0
    cuts = [0, *(offset for offset, _ in source.restarts), _EVERYTHING]
    resumes = [None, *(step for _, step in source.restarts)]
    return [
        Segment([Part(unit, begin, end)], rank, resume)
        for begin, end, resume in zip(cuts, cuts[1:], resumes, strict=False)
        if end > begin
    ]
