"""Where a surface is looked at: its axes, and the order of its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from summarykit.shapes import Floats, Ints

PADDING = 0.2    # of the path's range, on either side: MindSpore's
BLOCK = 8    # points that are computed as one, and are lost as one
_STRIDES = (4, 2, 1)


@dataclass(frozen=True, eq=False)
class Grid:
    """The points of a survey: some that are asked for by name (those of a path), then those of a grid, coarse ones first.

    Attributes:
        x: float64, shape ``[columns]``.
        y: float64, shape ``[rows]``.
        extra: float64, shape ``[points, 2]``: the points that come before the grid.
    """

    x: Floats
    y: Floats
    extra: Floats

    @cached_property
    def cells(self) -> Ints:
        """Row and column of each point of the grid, in the order of the survey: every 4th of both, every 2nd, all."""
        rows, columns = np.divmod(np.arange(len(self.y) * len(self.x)), len(self.x))
        levels = np.select([(rows % stride == 0) & (columns % stride == 0) for stride in _STRIDES], range(len(_STRIDES)))
        order = np.argsort(levels, kind="stable")
        return np.stack([rows[order], columns[order]], axis=1)

    @cached_property
    def points(self) -> Floats:
        """Both coordinates of each point of the survey: float64, shape ``[points, 2]``."""
        rows, columns = self.cells.T
        return np.concatenate([self.extra.reshape(-1, 2), np.stack([self.x[columns], self.y[rows]], axis=1)])

    @cached_property
    def blocks(self) -> list[range]:
        """The points in pieces, each computed as one: what a block holds never depends on what is already known."""
        return [range(start, min(start + BLOCK, len(self.points))) for start in range(0, len(self.points), BLOCK)]

    def laid(self, values: Floats) -> Floats:
        """The values of the grid's points, in rows and columns."""
        rows, columns = self.cells.T
        found = np.empty((len(self.y), len(self.x)))
        found[rows, columns] = values[len(self.extra):]
        return found


def around(path: Floats, size: int) -> tuple[Floats, Floats]:
    """Axes that hold a path with room on all sides; a path without extent along one axis gets that of the other.

    Args:
        path: float64, shape ``[points, 2]``.
        size: points of each axis.
    """
    low, high = path.min(axis=0), path.max(axis=0)
    extent = high - low
    filled = np.where(extent > 0, extent, extent.max() or 1.0)
    room = np.where(extent > 0, PADDING, PADDING + 0.5) * filled
    x, y = (np.linspace(start, stop, size) for start, stop in zip(low - room, high + room, strict=True))
    return x, y


def spaced(name: str, bounds: Sequence[float], size: int) -> Floats:
    """An axis between two bounds.

    Raises:
        ValueError: these are no two ascending finite numbers.
    """
    found = np.array(bounds, np.float64)
    if found.shape != (2,) or not np.isfinite(found).all() or not found[0] < found[1]:
        raise ValueError(f"{name} must be two ascending numbers, such as (-1, 1), got {bounds!r}")
    return np.linspace(found[0], found[1], size)
