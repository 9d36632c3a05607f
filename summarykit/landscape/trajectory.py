"""The checkpoints of an interval, read side by side in pieces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from summarykit.landscape.checkpoint import open_weights
from summarykit.landscape.weights import Weights
from summarykit.shapes import Array, Floats

_PIECE = 1 << 19    # elements of all checkpoints together: 2 MB of float32, which stay in a core's own cache


@dataclass(frozen=True)
class Piece:
    """A stretch of one parameter in all checkpoints.

    Attributes:
        name: the parameter's.
        start: index of its first element.
        moved: float32 where all checkpoints have it so, else float64, shape ``[checkpoints, elements]``: how far each is from the last
            one. Its memory is used again for the next piece.
    """

    name: str
    start: int
    moved: Array


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
        buffer = np.empty(stride * len(self.checkpoints))
        with ExitStack() as files:
            streams = [files.enter_context(open(each.file, "rb", buffering=0)) for each in self.checkpoints]
            for name in names:
                size = self.last.places[name].size
                read = self._read_as_is if all(each.places[name].dtype == "float32" for each in self.checkpoints) else self._read_exact
                for start in range(0, size, stride):
                    moved = read(streams, name, start, min(stride, size - start), buffer)
                    moved -= moved[-1].copy()
                    yield Piece(name, start, moved)

    def _read_as_is(self, streams: Sequence[BinaryIO], name: str, start: int, length: int, buffer: Floats) -> Array:
        """Values of float32, from the files straight into place."""
        rows = buffer.view(np.float32)[: len(streams) * length].reshape(len(streams), length)
        for row, stream, checkpoint in zip(rows, streams, self.checkpoints, strict=True):
            if os.preadv(stream.fileno(), [row], checkpoint.places[name].offset + 4 * start) < row.nbytes:    # type: ignore[list-item]
                row[:] = checkpoint.read(name, start, start + length)    # says what is wrong
        return rows

    def _read_exact(self, streams: Sequence[BinaryIO], name: str, start: int, length: int, buffer: Floats) -> Array:
        """Values of any dtype, in float64."""
        rows = buffer[: len(streams) * length].reshape(len(streams), length)
        for row, checkpoint in zip(rows, self.checkpoints, strict=True):
            row[:] = checkpoint.read(name, start, start + length)
        return rows


def _expect_same_model(checkpoint: Weights, last: Weights) -> None:
    here, there = ({name: place.shape for name, place in each.places.items()} for each in (checkpoint, last))
    if here == there:
        return
    strange = next(name for name in (*here, *there) if here.get(name) != there.get(name))
    raise ValueError(
        f"{checkpoint.file} is of another model than {last.file}: parameter {strange!r} has shape {here.get(strange)} there, "
        f"{there.get(strange)} here (None: absent)"
    )
