"""Files of records of one size: blocks of them, over the borders of slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.ascend.files import pieces
from summarykit.shapes import Array


def records(paths: list[Path], layout: np.dtype[np.void], skipped: Counter[str], what: str) -> Iterator[Array]:
    """Blocks of records.

    Args:
        paths: the slices in order; a record may begin in one and end in the next.
        layout: of one record.
        skipped: gets the count of a record that was cut at the end.
        what: the name of these records in ``skipped``.

    Yields:
        Structured arrays of the layout, not empty.
    """
    rest = b""
    for piece in pieces(paths, skipped):
        block = rest + piece if rest else piece
        whole = len(block) // layout.itemsize
        rest = block[whole * layout.itemsize :]
        if whole:
            yield np.frombuffer(block, layout, whole)
    if rest:
        skipped[f"cut {what} record at the end"] += 1


def table(paths: list[Path], layout: np.dtype[np.void], skipped: Counter[str], what: str) -> Array:
    """All records of a file that is small enough."""
    return np.concatenate([np.zeros(0, layout), *records(paths, layout, skipped, what)])


def packed(size: int, **fields: tuple[str, int]) -> np.dtype[np.void]:
    """A layout from the formats and offsets of those fields that are read."""
    names = list(fields)
    spelled = {"names": names, "formats": [fields[name][0] for name in names], "offsets": [fields[name][1] for name in names]}
    return np.dtype({**spelled, "itemsize": size})    # type: ignore[call-overload]  # NumPy's stubs want a literal
