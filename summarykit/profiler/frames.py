"""How a recording lies on disk: CRC-framed records, each a line of JSON that says what it is, and the bytes it speaks of.

======== ===================================================== =====================================================
frame    its JSON besides ``"frame"``                          behind it
======== ===================================================== =====================================================
meta     what is known of process, machine and window          nothing
list     ``list``: "names", "lanes", "stacks" …; ``first``     JSON: entries, of which the first has that number
rows     ``table``, ``rows``, ``columns`` (type by name)       the columns, one behind the other, as in ``tape.TYPES``
======== ===================================================== =====================================================

Rows speak of an entry of a list by its place: names are pairs of category and text, lanes are process, thread and title, stacks pairs
of a caller's stack (or -1) and a name, stages are number, name, workers and capacity. A file begins with ``meta`` (of ``format``
"summarykit.profile"), and holds every entry before the first row that speaks of it.
"""

from __future__ import annotations

import json
from typing import Any

from summarykit.formats.framing import framed
from summarykit.profiler.tape import TYPES
from summarykit.shapes import Array

FORMAT = "summarykit.profile"
SUFFIX = ".profile"


def meta(fields: dict[str, Any]) -> list[Any]:
    """A frame with what is known of the window; of one field the last frame counts."""
    return _frame({"frame": "meta", "format": FORMAT, "version": 1, **fields})


def listed(kind: str, first: int, entries: list[Any]) -> list[Any]:
    """A frame with entries of a list, from the number ``first`` on."""
    return _frame({"frame": "list", "list": kind, "first": first}, json.dumps(entries).encode())


def rows(table: str, kinds: dict[str, str], columns: dict[str, Array]) -> list[Any]:
    """A frame with rows of a table.

    Args:
        table: its name.
        kinds: type of each column by name.
        columns: the columns, of one length.
    """
    count = len(next(iter(columns.values())))
    packed = [column.astype(TYPES[kinds[name]], copy=False).tobytes() for name, column in columns.items()]
    return _frame({"frame": "rows", "table": table, "rows": count, "columns": kinds}, *packed)


def _frame(head: dict[str, Any], *parts: bytes) -> list[Any]:
    return framed([json.dumps(head, default=str).encode() + b"\n", *parts])
