"""The checkpoints of an interval, read side by side in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from summarykit.landscape.checkpoint import open_weights
from summarykit.landscape.weights import Weights
from summarykit.shapes import Floats

_PIECE = 1 << 21    # elements of all checkpoints together: 16 MB of float64


@dataclass(frozen=True)
class Piece:
    """A stretch of one parameter in all checkpoints.

    Attributes:
        name: the parameter's.
        start: index of its first element.
        moved: float64, shape ``[checkpoints, elements]``: how far each checkpoint is from the last one.
    """

    name: str
    start: int
    moved: Floats


class Trajectory:
    """Checkpoints in their order; the last one is the centre.

    Attributes:
        steps: step (or epoch) of each.
        checkpoints: each one's weights.
    """

    def __init__(self, steps: Sequence[int], files: Sequence[Path]) -> None:
        """Open the files.

        Raises:
            OSError: one cannot be read.
            ValueError: one is no checkpoint, or of another model than the last.
        """
        self.steps = tuple(steps)
        self.checkpoints: list[Weights] = [open_weights(file) for file in files]
        for checkpoint in self.checkpoints[:-1]:
            _expect_same_model(checkpoint, self.last)

    @property
    def last(self) -> Weights:
        """Where training had come to at the end of the interval."""
        return self.checkpoints[-1]

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Go through some parameters, in pieces that need little memory."""
        stride = max(1, _PIECE // len(self.checkpoints))
        for name in names:
            size = self.last.places[name].size
            for start in range(0, size, stride):
                yield Piece(name, start, self._moved(name, start, min(start + stride, size)))

    def _moved(self, name: str, start: int, stop: int) -> Floats:
        moved = np.empty((len(self.checkpoints), stop - start))
        for row, checkpoint in zip(moved, self.checkpoints, strict=True):
            row[:] = checkpoint.read(name, start, stop)
        moved -= moved[-1].copy()
        return moved


def _expect_same_model(checkpoint: Weights, last: Weights) -> None:
    here, there = ({name: place.shape for name, place in each.places.items()} for each in (checkpoint, last))
    if here == there:
        return
    strange = next(name for name in (*here, *there) if here.get(name) != there.get(name))
    raise ValueError(
        f"{checkpoint.file} is of another model than {last.file}: parameter {strange!r} has shape {here.get(strange)} there, "
        f"{there.get(strange)} here (None: absent)"
    )
