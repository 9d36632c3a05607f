"""Values that are shapes already: nothing is left to reduce."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from summarykit.shapes import Histogram, Image, Plugin, Shape, Tensor


class Made(NamedTuple):
    """A shape as a snapshot."""

    shape: Shape

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, about."""
        if isinstance(self.shape, Image):
            return len(self.shape.encoded)
        if isinstance(self.shape, Histogram):
            return self.shape.edges.nbytes + self.shape.counts.nbytes
        return int(self.shape.data.nbytes) if isinstance(self.shape, (Tensor, Plugin)) and isinstance(self.shape.data, np.ndarray) else 0


class Ready:
    """A kind whose values are shapes; it is in no registry, since a shape's maker knows its name."""

    light = True

    def __init__(self, name: str) -> None:
        """Name the kind."""
        self.name = name

    def snapshot(self, value: Shape, **options: Any) -> Made:
        """Hold the shape, which nobody changes."""
        return Made(value)

    def reduce(self, snapshot: Made) -> Shape:
        """Give it back."""
        return snapshot.shape
