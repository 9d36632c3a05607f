"""One summary file: what of it was read, and what is new."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.formats import origin
from summarykit.formats.dialect import Dialect
from summarykit.formats.mindspore.parse import DIALECT as MINDSPORE
from summarykit.formats.mindspore.parse import LINEAGE
from summarykit.formats.origin import Origin
from summarykit.formats.tensorboard.parse import DIALECT as TENSORBOARD
from summarykit.formats.tensorboard.parse import Plugins
from summarykit.reading import columns, damage, wire
from summarykit.reading.damage import Damage
from summarykit.reading.index import Entry, Findings, Number, walk
from summarykit.reading.scan import Scanner
from summarykit.reading.spans import Long
from summarykit.reading.track import Track, concatenate, in_file_order
from summarykit.shapes import Blob, Scalar, Shape

Key = tuple[str, str]
"""Kind and tag."""

_SHIFT = 40    # bits for the number of an entry in its file

DIALECTS: dict[str, Dialect] = {"mindspore": MINDSPORE, "tensorboard": TENSORBOARD, "lineage": LINEAGE}


def place(value: int) -> tuple[int, int]:
    """Number of the file, and of the entry in it, from a track's value."""
    return value >> _SHIFT, value & ((1 << _SHIFT) - 1)


def format_of(name: str) -> str | None:
    """The format of a file by its name: ``"mindspore"``, ``"lineage"``, ``"tensorboard"``; None where it is no summary file."""
    if "tfevents" in name:
        return None if name.endswith(".profile-empty") else "tensorboard"
    if not re.search(r"summary\.\d+", name) or name.endswith(("_explain", ".pb")):
        return None
    return "lineage" if name.endswith("_lineage") else "mindspore"


class Source:
    """One summary file, read as far as it goes; ``poll`` reads on.

    Attributes:
        path: the file.
        number: tells it from other files of its run.
        format: ``"mindspore"``, ``"lineage"`` or ``"tensorboard"``.
        origin: who wrote it; None where others did, or its beginning was not read.
        restarts: offset and step of each START of a session in it.
        entries: everything that is no scalar, by number.
    """

    def __init__(self, path: Path, plugins: Plugins, number: int = 0) -> None:
        """Make a source; nothing is read yet.

        Args:
            path: the file; its name tells its format.
            number: tells it from other files of its run.
            plugins: what is known of tags in this run; what this file tells is added.
        """
        self.path = path
        self.number = number
        self.format = format_of(path.name) or "tensorboard"
        self.origin: Origin | None = None
        self.restarts: list[tuple[int, int]] = []
        self.entries: list[Entry] = []
        self._dialect = DIALECTS[self.format]
        self._plugins = plugins
        self._scanner = Scanner(path)
        self._unreadable: list[Damage] = []
        self._tracks: dict[Key, list[Track]] = {}

    @property
    def records(self) -> int:
        """Sound records read."""
        return self._scanner.records

    @property
    def size(self) -> int:
        """Bytes at the last look."""
        return self._scanner.size

    @property
    def truncated(self) -> int | None:
        """Where a torn last record begins; None where there is none."""
        return self._scanner.truncated

    @property
    def damage(self) -> list[Damage]:
        """What could not be read, by offset."""
        return sorted(self._scanner.damage + self._unreadable, key=lambda each: each.offset)

    @property
    def keys(self) -> list[Key]:
        """Kind and tag of everything in it."""
        return list(self._tracks)

    def track(self, key: Key) -> Track:
        """All points of one kind and tag, in file order."""
        pieces = self._tracks[key]
        if len(pieces) > 1:
            pieces[:] = [in_file_order(concatenate(pieces))]
        return pieces[0]

    def poll(self) -> dict[Key, Track]:
        """Read what came since the last call: new points by kind and tag, in file order.

        Raises:
            OSError: the file cannot be read.
        """
        chunks: dict[Key, list[Track]] = defaultdict(list)
        findings = Findings()

        def rest(data: Any, offset: int) -> None:
            """Read on from there to the end."""
            findings.add(self._walk(data, len(data), offset))

        for span in self._scanner.poll():
            if isinstance(span, Long):
                findings.add(self._walk_in_file(span.offset, span.length))
                continue
            for chunk in columns.decode(span, self._dialect, findings, rest):
                chunks["scalar", chunk.tag].append(chunk.track)
        self._take(findings, chunks)
        news = {key: in_file_order(concatenate(pieces)) for key, pieces in chunks.items()}
        for key, track in news.items():
            _append(self._tracks.setdefault(key, []), track)
        return news

    def decode(self, entry: Entry) -> Shape:
        """The shape of one of ``entries``; what cannot be decoded comes as the bytes that are there.

        Raises:
            OSError: the file cannot be read (any more).
        """
        content = self.read(entry.offset, entry.length)
        if entry.whole:
            return self._dialect.whole(entry.kind, entry.tag, content)
        return _decode(content, entry.kind, self._dialect, *self._plugins.get(entry.tag, ("", b"")))

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the file."""
        with open(self.path, "rb") as file:
            return os.pread(file.fileno(), length, offset)

    def _walk(self, data: object, length: int, offset: int) -> Findings:
        try:
            return walk(data, length, offset, self._dialect)
        except wire.MalformedError:
            damage.add(self._unreadable, Damage(self.path, offset, length, damage.NOT_AN_EVENT))
            return Findings()

    def _walk_in_file(self, offset: int, length: int) -> Findings:
        with open(self.path, "rb") as file:
            return self._walk(wire.FileWindow(file.fileno(), offset), length, offset)

    def _take(self, findings: Findings, chunks: dict[Key, list[Track]]) -> None:
        findings.entries.sort(key=lambda entry: entry.record)
        if self.origin is None and findings.opening is not None:
            self.origin = origin.decode(self.read(*findings.opening))
        self.restarts = sorted(self.restarts + findings.restarts)
        for tag, (_, name, content) in findings.plugins.items():
            self._plugins.setdefault(tag, (name, content))
        numbers, entries = self._settle_kinds(findings)
        for key, track in _tracks_of(numbers):
            chunks[key].append(track)
        for key, track in _tracks_of_entries(entries, (self.number << _SHIFT) + len(self.entries)):
            chunks[key].append(track)
        self.entries += entries

    def _settle_kinds(self, findings: Findings) -> tuple[list[Number], list[Entry]]:
        """Ask the plugin of its tag where an entry's kind depends on it; scalars in tensors become numbers."""
        numbers, entries = list(findings.numbers), []
        for entry in findings.entries:
            kind = entry.kind or self._dialect.kind(self._plugins.get(entry.tag, ("", b""))[0])
            shape = self.decode(entry) if kind == "scalar" else None
            if isinstance(shape, Scalar):
                numbers.append(Number(entry.tag, entry.record, entry.step, entry.wall_time, shape.value))
            else:
                kind = "tensor" if kind == "scalar" else kind
                entries.append(entry if entry.kind == kind else entry._replace(kind=kind))
        return numbers, entries


def _append(pieces: list[Track], new: Track) -> None:
    """Add a piece, so that their number grows by the logarithm of the points only: a run may be followed for days."""
    pieces.append(new)
    while len(pieces) > 1 and len(pieces[-2]) <= 2 * len(pieces[-1]):
        pieces[-2:] = [concatenate(pieces[-2:])]


def _decode(content: bytes, kind: str, dialect: Dialect, plugin: str, metadata: bytes) -> Shape:
    from google.protobuf.message import DecodeError

    from summarykit.formats.proto.messages import message

    try:
        return dialect.shape(message(dialect.value).FromString(content), plugin, metadata)
    except (DecodeError, ValueError):    # its checksum is right: whoever wrote it meant something else
        return Blob(kind, content)


def _tracks_of(numbers: Iterable[Number]) -> list[tuple[Key, Track]]:
    by_tag: dict[str, list[Number]] = defaultdict(list)
    for number in numbers:
        by_tag[number.tag].append(number)
    rows = {tag: [(each.record, each.step, each.wall_time, each.value) for each in found] for tag, found in by_tag.items()}
    return [(("scalar", tag), _track(found, np.float64)) for tag, found in rows.items()]


def _tracks_of_entries(entries: Iterable[Entry], first: int) -> list[tuple[Key, Track]]:
    by_key: dict[Key, list[tuple[int, int, float, int]]] = defaultdict(list)
    for number, entry in enumerate(entries, first):
        by_key[entry.kind, entry.tag].append((entry.record, entry.step, entry.wall_time, number))
    return [(key, _track(rows, np.int64)) for key, rows in by_key.items()]


def _track(rows: list[tuple[int, int, float, float]] | list[tuple[int, int, float, int]], dtype: type) -> Track:
    offsets, steps, wall_times, values = zip(*rows, strict=True)
    return Track(np.array(offsets, np.int64), np.array(steps, np.int64), np.array(wall_times, np.float64), np.array(values, dtype))
