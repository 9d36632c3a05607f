"""Landscape: the loss over a plane in the space of a model's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import described, typed
from summarykit.kinds.kind import no_options
from summarykit.shapes import Floats, LossLandscape, LossPath


@dataclass(frozen=True, eq=False)
class Surveyed:
    """A landscape that nobody else can change."""

    shape: LossLandscape

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        grids = [self.shape.z, *self.shape.metrics.values()]
        return sum(grid.nbytes for grid in grids) + self.shape.x.nbytes + self.shape.y.nbytes


class LandscapeKind:
    """A loss landscape, which MindInsight shows as contours, topographic and 3-D map.

    Takes a `LossLandscape` (what `SummaryLandscape` computes) or a mapping of its fields: ``{"x": ..., "y": ..., "z": ...}`` with axes of
    shape ``[columns]`` and ``[rows]`` and losses of shape ``[rows, columns]``.
    """

    name = "landscape"

    def snapshot(self, value: Any, **options: Any) -> Surveyed:
        """Check and copy it.

        Raises:
            RefusedValueError: it is none, or its arrays do not fit one another.
        """
        no_options(self.name, options)
        return Surveyed(_checked(value if isinstance(value, LossLandscape) else _of_mapping(value)))

    def reduce(self, snapshot: Surveyed) -> LossLandscape:
        """Give the landscape."""
        return snapshot.shape


def _of_mapping(value: Any) -> LossLandscape:
    if not (isinstance(value, Mapping) and {"x", "y", "z"} <= value.keys()):
        raise RefusedValueError(f"landscape must be a LossLandscape or a mapping with x, y and z, got {described(value)}")
    try:
        return LossLandscape(**value)
    except TypeError as error:
        raise RefusedValueError(f"landscape: {error}; allowed: {', '.join(LossLandscape.__dataclass_fields__)}") from error


def _checked(given: LossLandscape) -> LossLandscape:
    x, y, z = _axis("x", given.x), _axis("y", given.y), _floats("z", given.z)
    metrics = {str(name): _floats(str(name), grid) for name, grid in given.metrics.items()}
    for name, grid in {"z": z, **metrics}.items():
        if grid.shape != (len(y), len(x)):
            raise RefusedValueError(f"landscape: {name} has shape {grid.shape}; x and y ask for {(len(y), len(x))}")
    return replace(given, x=x, y=y, z=z, metrics=metrics, path=None if given.path is None else _path(given.path))


def _path(path: LossPath) -> LossPath:
    steps, x, y, z = path.steps, _axis("path x", path.x), _axis("path y", path.y), _axis("path z", path.z)
    if not len(steps) == len(x) == len(y) == len(z):
        raise RefusedValueError(f"landscape: a path of {len(steps)} steps with {len(x)}, {len(y)} and {len(z)} coordinates")
    return LossPath(np.array(steps, np.int64), x, y, z)


def _axis(name: str, value: Any) -> Floats:
    found = _floats(name, value)
    if found.ndim != 1:
        raise RefusedValueError(f"landscape: {name} must have one axis, got shape {found.shape}")
    return found


def _floats(name: str, value: Any) -> Floats:
    return np.array(typed(value).data, np.float64)


LANDSCAPE = LandscapeKind()
