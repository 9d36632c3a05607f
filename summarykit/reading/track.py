"""The points of one kind and tag, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarykit.shapes import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class Track:
    """Points of one kind and tag, in columns of one length ``[n]``.

    Attributes:
        offsets: where their records are in their file, int64; ascending within a file.
        steps: int64.
        wall_times: float64, seconds since the epoch.
        values: float64 for scalars; for other kinds int64, the number of the entry to decode.
    """

    offsets: Ints
    steps: Ints
    wall_times: Floats
    values: Array

    def __len__(self) -> int:
        return len(self.steps)

    def take(self, members: Ints | slice | Array) -> Track:
        """Some of them."""
        return Track(self.offsets[members], self.steps[members], self.wall_times[members], self.values[members])


def concatenate(tracks: Sequence[Track]) -> Track:
    """One behind the other."""
    if len(tracks) == 1:
        return tracks[0]
    return Track(
        np.concatenate([track.offsets for track in tracks]),
        np.concatenate([track.steps for track in tracks]),
        np.concatenate([track.wall_times for track in tracks]),
        np.concatenate([track.values for track in tracks]),
    )


def in_file_order(track: Track) -> Track:
    """Ascending by record; values of one record keep their order."""
    if (np.diff(track.offsets) >= 0).all():
        return track
    return track.take(np.argsort(track.offsets, kind="stable"))
