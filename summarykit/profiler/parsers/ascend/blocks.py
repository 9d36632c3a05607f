"""Sorts rows that come in blocks, each in order, which hardly overlap: only around the borders is there anything to do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.shapes import Array, Ints


def sort_blocks(columns: list[Array], edges: Ints) -> None:
    """Sort rows by the first column, in place and stably; this takes memory for the rows around a border, not for all.

    Args:
        columns: of one length.
        edges: int64: where blocks begin, and the end of the last one; in each the first column ascends.
    """
    first = columns[0]
    for begin, end in _disordered(first, edges):
        order = np.argsort(first[begin:end], kind="stable")
        for column in columns:
            column[begin:end] = column[begin:end][order]


def _disordered(first: Ints, edges: Ints) -> Iterator[tuple[int, int]]:
    """Disjoint stretches of rows outside of which each row stands where it belongs."""
    begin = end = 0
    for since, until in _around_borders(first, np.unique(edges)):
        if since >= end:
            yield begin, end
            begin = since
        end = until
    yield begin, end


def _around_borders(first: Ints, edges: Ints) -> Iterator[tuple[int, int]]:
    """For each border the rows before it that are larger than any behind it, to those behind it that are smaller than any before it."""
    most = np.maximum.accumulate(first[edges[1:-1] - 1])             # of the rows before each border
    least = np.minimum.accumulate(first[edges[1:-1]][::-1])[::-1]    # of those behind it
    for low, high in zip(least[most > least], most[most > least], strict=True):
        block = int(np.searchsorted(most, low, "right"))
        since = edges[block] + np.searchsorted(first[edges[block] : edges[block + 1]], low, "right")
        block = int(np.searchsorted(least, high, "left"))
        until = edges[block] + np.searchsorted(first[edges[block] : edges[block + 1]], high, "left")
        yield int(since), int(until)
