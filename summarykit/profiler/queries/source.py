"""Where answers come from: a folder with files of MindInsight, or recordings, of which the same files are made in memory."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from summarykit.errors import SummaryKitError
from summarykit.profiler.intermediate import render
from summarykit.profiler.parsers.rows import csv_rows, each
from summarykit.profiler.recording import Recording


class NotRecordedError(SummaryKitError, LookupError):
    """There is no data for this question; the message names the file that would hold it."""


T = TypeVar("T")


class Source:
    """Files by name.

    Attributes:
        names: of the files.
        skipped: what could not be read: reason -> count.
    """

    def __init__(self, origin: str | os.PathLike[str] | Recording | Iterable[Recording]) -> None:
        """Look at what is there.

        Args:
            origin: a folder with files of MindInsight, a recording, or those of several ranks.

        Raises:
            OSError: the folder cannot be read.
        """
        self.skipped: Counter[str] = Counter()
        if isinstance(origin, str | os.PathLike):
            self._folder: Path | None = Path(origin)
            self._made: dict[str, str] = {}
            self.names = sorted({entry.name.removesuffix(".gz") for entry in self._folder.iterdir() if entry.is_file()})
        else:
            self._folder = None
            recordings = [origin] if isinstance(origin, Recording) else origin
            self._made = {name: content for recording in recordings for name, content in render(recording).items()}
            self.names = sorted(self._made)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def text(self, name: str) -> str:
        """A file's content.

        Raises:
            NotRecordedError: there is none of this name.
            OSError: it cannot be read.
        """
        if name not in self.names:
            raise NotRecordedError(f"no {name} in {self._folder or 'the recording'}, which has {len(self.names)} other files")
        if self._folder is None:
            return self._made[name]
        place = self._folder / name
        if place.is_file():
            return place.read_text(encoding="utf-8", errors="replace")
        return gzip.decompress(place.with_name(f"{name}.gz").read_bytes()).decode("utf-8", "replace")

    def csv(self, name: str) -> tuple[list[str], list[list[str]]]:
        """Header and rows of a csv file.

        Raises:
            NotRecordedError: there is none of this name.
        """
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))       # a queue's sizes are one cell
        header, *rows = [row for row in csv_rows(f"\n{self.text(name)}", self.skipped, name) if row] or [[]]
        return header, rows

    def rows(self, name: str, convert: Callable[[list[str]], T]) -> list[T]:
        """What ``convert`` makes of the rows of a csv file, if there is one; those at which it raises are left out and counted."""
        return list(each(self.csv(name)[1], convert, self.skipped, f"rows of {name}")) if name in self else []

    def lines(self, name: str, convert: Callable[[list[str]], T]) -> list[T]:
        """The same of the words of each line of a text file."""
        words = [line.split() for line in self.text(name).splitlines() if line.strip()] if name in self else []
        return list(each(words, convert, self.skipped, f"lines of {name}"))

    def object(self, name: str) -> dict[str, Any]:
        """The object that a JSON file holds.

        Raises:
            NotRecordedError: there is none of this name, or it holds no JSON object.
        """
        value = self.json(name)
        if not isinstance(value, dict):
            raise NotRecordedError(f"{name} holds no JSON object")
        return value

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of a timeline; files of MindInsight 0.5 have a comma too much at their end.

        Raises:
            NotRecordedError: there is none of this name, or it holds no JSON array.
        """
        value = _json(name, re.sub(r",\s*\]\s*$", "]", self.text(name)))
        if not isinstance(value, list):
            raise NotRecordedError(f"{name} holds no JSON array")
        return [event for event in value if isinstance(event, dict)]

    def json(self, name: str) -> Any:
        """What a JSON file holds.

        Raises:
            NotRecordedError: there is none of this name, or it holds no JSON.
        """
        return _json(name, self.text(name))


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotRecordedError(f"{name} holds no JSON: {error}") from error
