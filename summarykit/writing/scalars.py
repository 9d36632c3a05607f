"""Scalars on their last way: from the flat list to the files."""

from __future__ import annotations

import math
from array import array
from typing import Any

from summarykit.formats.chunk import Chunk
from summarykit.formats.scalars import FEW, ScalarEncoder, few
from summarykit.writing.flat import WIDTH, columns
from summarykit.writing.output import Output
from summarykit.writing.stats import Stats


class ScalarWriter:
    """Encodes and writes; what fails is tried again in halves, so that one bad value costs itself alone."""

    def __init__(self, output: Output, stats: Stats) -> None:
        """Write into ``output``."""
        self._output = output
        self._stats = stats
        self._encoder = ScalarEncoder([layout.scalar_field for layout in output.formats])

    def write(self, flat: list[Any]) -> None:
        """Write scalars (as in ``writing.flat``)."""
        try:
            chunks = self._few(flat) if len(flat) < WIDTH * FEW else self._many(flat)
        except Exception as error:  # noqa: BLE001  such as a MemoryError, where half as much may do
            self._write_in_halves(flat, error)
            return
        self._output.write(chunks, len(flat) // WIDTH)

    def _few(self, flat: list[Any]) -> list[Chunk]:
        tags, values = flat[0::WIDTH], list(map(float, flat[1::WIDTH]))
        steps = array("q", flat[2::WIDTH]).tolist()    # an OverflowError where one has more than 64 bits
        chunks = few(self._encoder.number_fields, tags, steps, flat[3::WIDTH], values)
        if not all(map(math.isfinite, values)):
            self._stats.watch(columns(flat))
        return chunks

    def _many(self, flat: list[Any]) -> list[Chunk]:
        batch = columns(flat)
        chunks = self._encoder.encode(batch)
        self._stats.watch(batch)
        return chunks

    def _write_in_halves(self, flat: list[Any], error: Exception) -> None:
        if len(flat) == WIDTH:
            self._stats.drop(f"scalar: {type(error).__name__}", detail=f"{flat[0]!r}: {error}")
            return
        half = len(flat) // (2 * WIDTH) * WIDTH
        self.write(flat[:half])
        self.write(flat[half:])
