"""What is known of a surface so far, in a file that a kill at any time leaves usable."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.shapes import Floats

_HEAD = struct.Struct("<III")    # number of the block, bytes of its values, their CRC-32


class Cells:
    """Measured values of the points of a survey, by block.

    Attributes:
        names: of what was measured; empty until the first block is known.
        values: float64, shape ``[points, metrics]``; NaN where nothing is known yet.
        done: numbers of the blocks that are known.
    """

    def __init__(self, file: Path | None, points: int, blocks: Sequence[range]) -> None:
        """Read what is known; a torn end is cut off.

        Args:
            file: where it is kept; None keeps it in memory.
            points: their number.
            blocks: which points each block holds.

        Raises:
            OSError: the file cannot be read or written.
        """
        self.names: tuple[str, ...] = ()
        self.done: set[int] = set()
        self.values: Floats = np.full((points, 0), np.nan)
        self._blocks = blocks
        self._stream = None if file is None else open(file, "a+b", buffering=0)    # noqa: SIM115  # closed by close()
        if self._stream is not None:
            self._stream.truncate(self._read(self._stream))

    def add(self, block: int, names: tuple[str, ...], values: Floats) -> None:
        """Keep the values of a block: float64, shape ``[points of the block, metrics]``.

        Raises:
            ValueError: something else was measured than in the blocks before.
            OSError: it cannot be written.
        """
        if not self.names:
            self._begin(names)
            self._write(json.dumps(names).encode(), 0xFFFFFFFF)
        if names != self.names:
            raise ValueError(f"measured {', '.join(names)}, but {', '.join(self.names)} before")
        self._know(block, values)    # before it is written: it may not fit
        self._write(np.ascontiguousarray(values, "<f8").tobytes(), block)

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()

    def _begin(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.values = np.full((len(self.values), len(names)), np.nan)

    def _know(self, block: int, values: Floats) -> None:
        self.values[self._blocks[block]] = values
        self.done.add(block)

    def _write(self, content: bytes, block: int) -> None:
        if self._stream is not None:
            self._stream.write(_HEAD.pack(block, len(content), zlib.crc32(content)) + content)

    def _read(self, stream: Any) -> int:
        """Take in what is there; gives where the last whole record ends."""
        stream.seek(0)
        data, place = stream.read(), 0
        while len(data) - place >= _HEAD.size:
            block, length, crc = _HEAD.unpack_from(data, place)
            content = data[place + _HEAD.size : place + _HEAD.size + length]
            if len(content) < length or zlib.crc32(content) != crc or (place and block >= len(self._blocks)):
                break
            if place == 0:
                self._begin(json.loads(content))
            else:
                self._know(block, np.frombuffer(content, "<f8").reshape(-1, len(self.names)))
            place += _HEAD.size + length
        return place
