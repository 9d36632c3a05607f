"""The frames of our records, gathered: what rows speak of, and the rows of each table as columns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.tape import TYPES
from summarykit.reading.scan import Scanner
from summarykit.reading.spans import Long
from summarykit.shapes import Array

_NO_FRAME = "frames that cannot be read"
_LONGEST = 1 << 20
"""Entries of a list: what a damaged frame says of more is not believed."""


class Frames:
    """What stands in the files of one recording.

    Attributes:
        meta: of the window; of one field the last frame counts.
        lists: what rows speak of, by the list's name; None where an entry was lost.
        skipped: what could not be read, by reason.
    """

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.lists: dict[str, list[Any]] = {}
        self.skipped: Counter[str] = Counter()
        self._rows: dict[str, list[dict[str, Array]]] = {}

    def read(self, path: Path) -> None:
        """Add a file.

        Raises:
            OSError: it cannot be opened.
        """
        scanner = Scanner(path)
        for _, payload in sorted(_payloads(scanner), key=lambda found: found[0]):
            self._take(payload)
        for damage in scanner.damage:
            self.skipped[damage.reason] += damage.records
        if scanner.truncated is not None:
            self.skipped["cut at the end of the file"] += 1

    def told(self, *names: str, default: int) -> int:
        """A number in ``meta``, by the names of the objects around it; ``default`` where there is none."""
        found: Any = self.meta
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        return found if type(found) is int and abs(found) < 1 << 62 else default

    def table(self, name: str, *columns: str) -> dict[str, Array]:
        """The rows of a table as these columns, in the order of writing; what lacks one of them is left out."""
        batches = [rows for rows in self._rows.get(name, []) if all(column in rows for column in columns)]
        return {column: np.concatenate([rows[column] for rows in batches]) if batches else _NONE for column in columns}

    def entries(self, kind: str, *instead: Any) -> list[tuple[Any, ...]]:
        """The entries of a list, each with as many parts, of the same types, as ``instead``: what is put where an entry was lost."""
        types = [type(part) for part in instead]
        found = self.lists.get(kind, [])
        return [tuple(entry) if isinstance(entry, list) and list(map(type, entry)) == types else instead for entry in found]

    def _take(self, payload: bytes) -> None:
        try:
            self._understand(payload)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.skipped[_NO_FRAME] += 1

    def _understand(self, payload: bytes) -> None:
        line, _, data = payload.partition(b"\n")
        head = json.loads(line)
        if head["frame"] == "meta":
            self.meta.update(head)
        elif head["frame"] == "list":
            self._extend(self.lists.setdefault(head["list"], []), head["first"], json.loads(data))
        elif head["frame"] == "rows":
            self._rows.setdefault(head["table"], []).append(_columns(head["columns"], head["rows"], data))

    @staticmethod
    def _extend(known: list[Any], first: int, entries: list[Any]) -> None:
        if not 0 <= first <= _LONGEST:
            raise ValueError(f"first: {first}")
        known.extend([None] * (first - len(known)))
        known[first : first + len(entries)] = entries


_NONE = np.empty(0, np.int64)


def _payloads(scanner: Scanner) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of every sound record."""
    for found in scanner.poll():
        if isinstance(found, Long):
            with open(scanner.path, "rb") as file:
                file.seek(found.offset)
                yield found.offset, file.read(found.length)
        else:
            yield from zip(found.offsets.tolist(), map(bytes, found.rows), strict=True)


def _columns(kinds: dict[str, str], rows: int, data: bytes) -> dict[str, Array]:
    """Cut the bytes of a frame into its columns.

    Raises:
        ValueError, KeyError, TypeError: they do not fit.
    """
    types = {name: np.dtype(TYPES[kind]) for name, kind in kinds.items()}
    if rows < 0 or sum(kind.itemsize for kind in types.values()) * rows != len(data):
        raise ValueError(f"{rows} rows do not fit {len(data)} bytes")
    columns, place = {}, 0
    for name, kind in types.items():
        column = np.frombuffer(data, kind, rows, place)
        columns[name] = column.astype(np.float64 if kind.kind == "f" else np.int64)
        place += column.nbytes
    return columns
