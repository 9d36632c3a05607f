"""For formats of text: lines that are read one by one, leniently, and become columns."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def csv_lines(text: str, skipped: Counter[str], what: str) -> Iterator[list[str]]:
    """The rows of a csv file, its header first; where one is none the file ends, which is counted."""
    try:
        yield from csv.reader(text.replace("\0", "").splitlines())    # Python before 3.11 refuses NUL
    except csv.Error as error:
        skipped[f"{what} is no csv file any more: {error}"] += 1


def csv_rows(text: str, skipped: Counter[str], what: str) -> Iterator[list[str]]:
    """The same without the header."""
    rows = csv_lines(text, skipped, what)
    next(rows, None)
    return rows


def listed(content: Mapping[str, Any], key: str) -> list[Any]:
    """The list under a key of a JSON object; empty where there is none."""
    value = content.get(key)
    return value if isinstance(value, list) else []


def number(value: Any) -> bool:
    """Whether a JSON value is a number that int64 and float64 hold, with room for sums."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**58      # False for NaN, too
