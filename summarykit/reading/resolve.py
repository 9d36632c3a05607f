"""The resolved view: what a run means once restarts and late values are taken into account.

A segment that declares the first step it records anew hides, in older segments of its rank, every step from that one on, unless they
continue an earlier run together with it. Beyond that only equal steps of one tag hide each other, the later point counts, so that two live
writers merge. The result is sorted by step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from summarykit.reading.segments import Segment
from summarykit.reading.source import Key
from summarykit.reading.track import Track, concatenate


def raw(segments: Sequence[Segment], key: Key) -> Track:
    """All points, in the order of the files."""
    tracks = (segment.track(key) for segment in segments)
    return concatenate([track for track in tracks if track is not None])


def resolved(segments: Sequence[Segment], key: Key) -> Track:
    """The points that count, by ascending step."""
    ranks = sorted({segment.rank for segment in segments})
    found = [_of_rank([segment for segment in segments if segment.rank == rank], key) for rank in ranks]
    tracks = [track for track in found if track is not None]
    if len(tracks) == 1:
        return tracks[0]
    joined = concatenate(tracks)
    return joined.take(np.argsort(joined.steps, kind="stable"))


def _of_rank(segments: Sequence[Segment], key: Key) -> Track | None:
    kept: list[Track] = []
    for segment in segments:
        track = segment.track(key)
        if track is not None:
            kept.append(track if segment.limit is None else track.take(track.steps < segment.limit))
    return _last_of_equal_steps(concatenate(kept)) if kept else None


def _last_of_equal_steps(track: Track) -> Track:
    if (np.diff(track.steps) > 0).all():
        return track
    order = np.argsort(track.steps, kind="stable")
    steps = track.steps[order]
    return track.take(order[np.append(steps[1:] != steps[:-1], True)])
