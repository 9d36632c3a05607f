"""Scalars on their last way: from the flat list to the files."""

from __future__ import annotations

from typing import Any

from summarykit.formats.scalars import ScalarEncoder
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
            batch = columns(flat)
            chunks = self._encoder.encode(batch)
        except Exception as error:  # noqa: BLE001  such as a MemoryError, where half as much may do
            self._write_in_halves(flat, error)
            return
        if len(batch):
            self._stats.watch(batch)
            self._output.write(chunks, len(batch))

    def _write_in_halves(self, flat: list[Any], error: Exception) -> None:
        if len(flat) == WIDTH:
            self._stats.drop(f"scalar: {type(error).__name__}", detail=f"{flat[0]!r}: {error}")
            return
        half = len(flat) // (2 * WIDTH) * WIDTH
        self.write(flat[:half])
        self.write(flat[half:])
