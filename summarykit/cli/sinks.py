"""Tables as files: one class for each format that ``export`` writes.

A number in CSV has all its digits (``float`` gives it back), and is ``nan``, ``inf`` or ``-inf`` where it is not finite; in JSON these are
the strings ``"NaN"``, ``"Infinity"``, ``"-Infinity"``. Lists within a row are JSON in CSV and NPZ, lists in the others.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

from summarykit import lazy
from summarykit.cli import spell

Columns = Mapping[str, Any]
"""Columns of one length by name; arrays of numbers, lists of anything else."""


class Sink(Protocol):
    """A file that takes a table piece by piece."""

    def write(self, columns: Columns) -> None:
        """Append rows; every piece has the same columns."""

    def close(self) -> None:
        """Finish the file."""


class Csv:
    """Comma-separated values, UTF-8, with a header; texts are quoted, numbers are not."""

    def __init__(self, file: Path) -> None:
        self._stream = _text(file)
        self._rows = csv.writer(self._stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)    # else a text "\\r" is not quoted
        self._begun = False

    def write(self, columns: Columns) -> None:
        """Append rows."""
        if not self._begun:
            self._rows.writerow(columns)
            self._begun = True
        self._rows.writerows(zip(*map(_cells, columns.values()), strict=True))

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()


class JsonLines:
    """One JSON object for each row, one row on each line."""

    before, between, after = "", "\n", "\n"

    def __init__(self, file: Path) -> None:
        self._stream = _text(file)
        self._stream.write(self.before)
        self._separator = ""

    def write(self, columns: Columns) -> None:
        """Append rows."""
        for row in zip(*map(spell.plain, columns.values()), strict=True):
            self._stream.write(self._separator + json.dumps(dict(zip(columns, row, strict=True))))
            self._separator = self.between

    def close(self) -> None:
        """Finish the file."""
        self._stream.write(self.after)
        self._stream.close()


class Json(JsonLines):
    """One JSON array with an object for each row."""

    before, between, after = "[\n", ",\n", "\n]\n"


class Parquet:
    """Apache Parquet, through pyarrow."""

    def __init__(self, file: Path) -> None:
        self._arrow = lazy.optional("pyarrow", extra="arrow", purpose="export to Parquet")
        self._parquet = lazy.optional("pyarrow.parquet", extra="arrow", purpose="export to Parquet")
        self._file = file
        self._writer: Any = None

    def write(self, columns: Columns) -> None:
        """Append rows."""
        table = self._arrow.table({name: column if isinstance(column, np.ndarray) else list(column) for name, column in columns.items()})
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(str(self._file), table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()


class Npz:
    """NumPy's archive with an array for each column; texts as unicode arrays."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._pieces: dict[str, list[Any]] = defaultdict(list)

    def write(self, columns: Columns) -> None:
        """Append rows."""
        for name, column in columns.items():
            self._pieces[name].append(column if isinstance(column, np.ndarray) else np.array(_cells(column)))

    def close(self) -> None:
        """Finish the file."""
        with open(self._file, "wb") as stream:
            columns: dict[str, Any] = {name: np.concatenate(pieces) for name, pieces in self._pieces.items()}
            np.savez_compressed(stream, **columns)


SINKS: dict[str, Callable[[Path], Sink]] = {"csv": Csv, "json": Json, "jsonl": JsonLines, "parquet": Parquet, "npz": Npz}


def _text(file: Path) -> TextIO:
    return open(file, "w", encoding="utf-8", errors="surrogateescape", newline="")    # closed by close()


def _cells(column: Any) -> list[Any]:
    """A column for tables that know only numbers and texts."""
    if isinstance(column, np.ndarray):
        return list(column.tolist())
    return [spell.text(value) if isinstance(value, list) else value for value in column]
