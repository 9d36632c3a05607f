"""For formats of text: lines that are read one by one, leniently, and become columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from summarykit.profiler.recording import Table
from summarykit.shapes import Array

T = TypeVar("T")


def each(items: Iterable[Any], read: Callable[[Any], T], skipped: Counter[str], what: str) -> Iterator[T]:
    """What ``read`` makes of each item; one at which it raises (ValueError, IndexError, OverflowError) is left out and counted."""
    for item in items:
        good, value = _tried(read, item)
        if good:
            yield value
        else:
            skipped[f"{what} that cannot be read"] += 1


def _tried(read: Callable[[Any], Any], item: Any) -> tuple[bool, Any]:
    try:
        return True, read(item)
    except (ValueError, IndexError, OverflowError):
        return False, None


def table(rows: Iterable[Sequence[Any]], **columns: type) -> Table:
    """Rows as columns.

    Args:
        rows: of as many values as there are columns.
        columns: name -> ``int`` (int64), ``float`` (float64) or ``object``.
    """
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return Table({name: _column(each_, kind) for (name, kind), each_ in zip(columns.items(), values, strict=True)})


def _column(values: Sequence[Any], kind: type) -> Array:
    return objects(values) if kind is object else np.array(values, np.int64 if kind is int else np.float64)


def objects(values: Sequence[Any]) -> Array:
    """A column of Python objects."""
    column = np.empty(len(values), object)
    column[:] = list(values)
    return column


def int64(text: str) -> int:
    """A whole number that int64 holds, with room for sums and units.

    Raises:
        ValueError: it is none.
    """
    number = int(text)
    if not -(2**58) < number < 2**58:
        raise ValueError(f"{number} is out of range")
    return number
