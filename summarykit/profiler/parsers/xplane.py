"""``plugins/profile/<run>/<host>.xplane.pb``: all that XLA's profiler saw, of JAX and TensorFlow."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.parsers import jax_words
from summarykit.profiler.parsers.columns import SpanColumns
from summarykit.profiler.parsers.jax import step_number
from summarykit.profiler.parsers.trace import steps_of
from summarykit.profiler.parsers.trace_kinds import Kinds
from summarykit.profiler.parsers.xplane_messages import message
from summarykit.profiler.recording import Lane, Recording
from summarykit.shapes import Array

_PLANES, _ROWS = 1, 3
_ABOUT = {1: "id", 2: "name", 4: "event_metadata", 5: "stat_metadata"}


def sniff(path: Path) -> bool:
    """Whether it is named so."""
    return path.name.endswith(".xplane.pb") and path.is_file()


def parse(path: Path) -> list[Recording]:
    """Read a file: one recording.

    Raises:
        OSError: the file cannot be opened.
    """
    reader = _Reader()
    if path.stat().st_size:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data, memoryview(data) as view:
            reader.read(view)
    return [reader.recording(path)]


class _Reader:
    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self._columns, self._kinds = SpanColumns(), Kinds(jax_words.classify)
        self._lanes: list[Lane] = []
        self._steps: list[tuple[int, int]] = []

    def read(self, data: memoryview) -> None:
        """Take all planes of a file."""
        for number, plane in _fields(data, self.skipped):
            if number == _PLANES:
                self._plane(plane)
            plane.release()

    def recording(self, path: Path) -> Recording:
        """What was read."""
        spans = self._columns.spans(self._kinds.names, self._lanes)
        chosen, number = (np.array(column, np.int64) for column in (zip(*self._steps, strict=True) if self._steps else ((), ())))
        steps = steps_of(spans, chosen, number)
        return Recording("jax", path, spans, {"steps": steps} if steps.rows else {}, skipped=self.skipped)

    def _plane(self, data: memoryview) -> None:
        about = message("Plane")()
        rows = []
        for number, content in _fields(data, self.skipped):
            if number in _ABOUT:
                self._merge(about, number, content)
            elif number == _ROWS:
                rows.append(content)
        names = {entry.key: entry.value.display_name or entry.value.name for entry in about.event_metadata}
        stats = {entry.key: entry.value.name for entry in about.stat_metadata}
        for content in rows:
            self._row(about, names, stats, content)
            content.release()

    def _merge(self, about: Any, number: int, content: memoryview) -> None:
        """Take one field of a plane: its name, or what a number stands for in its rows."""
        from google.protobuf.message import DecodeError

        try:
            if number in (4, 5):
                getattr(about, _ABOUT[number]).append(message("Entry").FromString(bytes(content)))
            elif number == 2:
                about.name = bytes(content).decode(errors="replace")
        except DecodeError:
            self.skipped["garbled descriptions"] += 1

    def _row(self, about: Any, names: dict[int, str], stats: dict[int, str], content: memoryview) -> None:
        from google.protobuf.message import DecodeError

        try:
            line = message("Line").FromString(bytes(content))
        except DecodeError:
            self.skipped["garbled rows"] += 1
            return
        events = list(line.events)
        if not events:
            return
        title = line.display_name or line.name
        usual = jax_words.row(about.name, title)
        words = [self._word(event, stats, usual, len(self._columns) + place) for place, event in enumerate(events)]
        kind = self._kinds.numbered(words, [names.get(event.metadata_id, "") for event in events])
        start = line.timestamp_ns + _nanoseconds([event.offset_ps for event in events])
        duration = np.maximum(_nanoseconds([event.duration_ps for event in events]), 0)
        lane = np.full(len(events), len(self._lanes), np.int32)
        self._lanes.append(Lane(_device(about.name), line.id, title, device=about.name.startswith("/device:")))
        self._columns.add(start, duration, self._kinds.name[kind], self._kinds.category[kind], lane, np.full(len(events), -1))

    def _word(self, event: Any, stats: dict[int, str], usual: str, place: int) -> str:
        for stat in event.stats:
            name = stats.get(stat.metadata_id)
            if name == "step_num":
                self._steps.append((place, step_number(stat.str_value or stat.uint64_value or stat.int64_value)))
                return jax_words.STEP
            if name == "hlo_op" and not usual:
                return jax_words.OPERATOR
        return usual


def _nanoseconds(picoseconds: list[int]) -> Array:
    return np.array(picoseconds, np.int64) // 1000


def _device(name: str) -> int:
    """The number in ``/device:GPU:0``; 0 for the host."""
    number = name.split(" ")[0].rpartition(":")[2]
    return int(number) if name.startswith("/device:") and number.isdigit() else 0


def _fields(data: memoryview, skipped: Counter[str]) -> Iterator[tuple[int, memoryview]]:
    """Number and content of the fields of a message that have a length; stops where it is garbled, and counts that."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        wire = key & 7
        if wire == 2:
            size, place = _varint(data, place)
            if size < 0 or place + size > len(data):
                break
            yield key >> 3, data[place : place + size]
            place += size
        elif wire == 0:
            _, place = _varint(data, place)
        elif wire in (1, 5):
            place += 8 if wire == 1 else 4
        else:
            break
        if place < 0:
            break
    else:
        return
    skipped["cut or garbled message"] += 1


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    """A number and what follows it; -1 and a place before the beginning where there is none."""
    value = shift = 0
    while 0 <= place < len(data) and shift < 64:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    return -1, -(2**62)
