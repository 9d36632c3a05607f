"""The points of one kind and tag, as sequences; what is heavy is decoded when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

import numpy as np

from summarykit.reading.stored import StoredTensor
from summarykit.reading.tables import Table, long_form
from summarykit.reading.thinning import LEAST, thin
from summarykit.reading.track import Track
from summarykit.shapes import Floats, Histogram, Ints, Point, Shape
from summarykit.whole import whole

Self = TypeVar("Self", bound="Series")


class Reader(Protocol):
    """Gives what the values of a track stand for."""

    def shape(self, value: Any) -> Shape:
        """The shape, decoded."""

    def stored(self, value: Any) -> StoredTensor:
        """A tensor, still in its file."""

    def path(self, value: Any) -> Path:
        """The file that it is in."""


class Series(Sequence[Point]):
    """Points of one kind and tag.

    Attributes:
        kind: their kind.
        tag: their tag.
        step: int64, shape ``[n]``.
        wall_time: float64, shape ``[n]``, seconds since the epoch.
    """

    def __init__(self, kind: str, tag: str, track: Track, reader: Reader) -> None:
        self.kind = kind
        self.tag = tag
        self.step: Ints = track.steps
        self.wall_time: Floats = track.wall_times
        self._track = track
        self._reader = reader

    def __len__(self) -> int:
        return len(self._track)

    @overload
    def __getitem__(self, place: int) -> Point: ...

    @overload
    def __getitem__(self: Self, place: slice | Ints) -> Self: ...

    def __getitem__(self, place: int | slice | Ints) -> Any:
        if isinstance(place, (slice, np.ndarray)):
            return type(self)(self.kind, self.tag, self._track.take(place), self._reader)
        shape = self._reader.shape(self._track.values[place])
        return Point(self.kind, self.tag, int(self.step[place]), float(self.wall_time[place]), shape)

    def __iter__(self) -> Iterator[Point]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.tag!r}: {len(self)} points>"

    def table(self) -> Table:
        """The points in columns: kind, tag, step, wall_time, value (float64; NaN for what is no scalar)."""
        return long_form([((self.kind, self.tag), self._track)])

    def at(self, step: int) -> Point:
        """The point of a step; of several (in the raw view) the last.

        Raises:
            KeyError: there is none; the message names the steps next to it.
        """
        return self[self.place(step)]

    def place(self, step: int) -> int:
        """The index of a step's point; of several the last one's.

        Raises:
            KeyError: there is none.
            TypeError: this is no number.
        """
        if whole(step) is None and not isinstance(step, (float, np.floating)):
            raise TypeError(f"step must be an integer, got {step!r}")
        places = np.flatnonzero(self.step == step)
        if not len(places):
            raise KeyError(f"{self.kind} {self.tag!r} has no step {step}; {_nearby(self.step, step)}")
        return int(places[-1])


def _nearby(steps: Ints, step: int) -> str:
    nearest = np.unique(steps)
    nearest = np.sort(nearest[np.argsort(np.abs(nearest - float(step)), kind="stable")[:4]])
    return f"nearest: {', '.join(map(str, nearest.tolist()))}"


class Scalars(Series):
    """Scalars of one tag; ``value`` is float64, shape ``[n]``. All of them, unless ``sample`` is asked for."""

    def __init__(self, kind: str, tag: str, track: Track, reader: Reader) -> None:
        super().__init__(kind, tag, track, reader)
        self.value: Floats = track.values

    def sample(self, most: int) -> Scalars:
        """At most so many points, for a picture: what the eye would see stays (see ``thinning.thin``).

        Raises:
            ValueError: ``most`` is below 5.
        """
        if most < LEAST:
            raise ValueError(f"most must be at least {LEAST} (first, last, smallest, largest, one that is not finite), got {most}")
        return self if len(self) <= most else self[thin(self.value, most)]


class Histograms(Series):
    """Histograms of one tag."""

    def common(self, bins: int | None = None) -> CommonHistograms:
        """All of them over one range.

        Counts are spread evenly over their old bin, so they become fractions; their sum stays.

        Args:
            bins: number of bins; without it as many as the finest of them has.

        Raises:
            ValueError: ``bins`` is below 1.
        """
        if bins is not None and bins < 1:
            raise ValueError(f"bins must be at least 1, got {bins}")
        shapes = [point.value for point in self if isinstance(point.value, Histogram)]
        filled = [shape for shape in shapes if len(shape.counts)]
        if not filled:
            return CommonHistograms(self.step, np.empty(0), np.empty((len(self), 0)))
        width = bins or max(len(shape.counts) for shape in filled)
        edges = _common_edges(filled, width)
        return CommonHistograms(self.step, edges, np.stack([_rebin(shape, edges) for shape in shapes]))


@dataclass(frozen=True, eq=False)
class CommonHistograms:
    """Histograms of several steps over one range.

    Attributes:
        step: int64, shape ``[steps]``.
        edges: float64, shape ``[bins + 1]``, of equal width.
        counts: float64, shape ``[steps, bins]``.
    """

    step: Ints
    edges: Floats
    counts: Floats


def _common_edges(shapes: list[Histogram], bins: int) -> Floats:
    low = min(float(shape.edges[0]) for shape in shapes)
    high = max(float(shape.edges[-1]) for shape in shapes)
    if not low < high:
        low, high = low - 0.5, high + 0.5
    fractions = np.arange(bins + 1) / bins
    return low * (1 - fractions) + high * fractions    # high - low may exceed the largest float


def _rebin(shape: Histogram, edges: Floats) -> Floats:
    if not len(shape.counts):
        return np.zeros(len(edges) - 1)
    scale = max(float(np.abs(edges).max()), np.finfo(np.float64).tiny)
    old, new = shape.edges / scale, edges / scale
    if old[0] == old[-1]:    # all values are equal
        return np.histogram(old[:1], new, weights=[float(shape.counts.sum())])[0].astype(np.float64)
    below = np.concatenate([[0], np.cumsum(shape.counts)]).astype(np.float64)
    return np.asarray(np.diff(np.interp(new, old, below)), np.float64)


class Tensors(Series):
    """Tensors of one tag; ``at(step)`` gives one of which parts can be read."""

    def at(self, step: int) -> StoredTensor:    # type: ignore[override]  # not the whole of it is read
        """The tensor of a step, still in its file: ``tensors.at(5)[0, 1:3, :]`` reads only what is asked for.

        Raises:
            KeyError: there is none.
        """
        return self._reader.stored(self._track.values[self.place(step)])
