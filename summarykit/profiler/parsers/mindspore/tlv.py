"""``mindspore.op_range`` and its kin: MindSpore 2.10's files of type, length and value, little endian.

A value begins with a fixed part, behind which texts stand in the same manner. The layout comes from MindSpore's reader.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from summarykit.profiler.parsers.ascend.files import pieces
from summarykit.profiler.parsers.rows import table
from summarykit.profiler.recording import Category, Lane, Spans

_HEAD = struct.Struct("<HI")
_FIXED = struct.Struct("<5Qi3Hb3?")
NO_FLOW = 2**64 - 1
TEXTS = {13: "name", 14: "full_name", 15: "module", 16: "event", 17: "custom"}
_LONGEST = 1 << 24


class Operation(NamedTuple):
    """One stretch of time on the host.

    Attributes:
        thread: its number.
        flow: the number that a launch shares with what it launched; -1 where there is none.
        step: the training's.
        start: nanoseconds.
        end: nanoseconds.
        process: its number.
        level: how deep it lies below others.
        texts: ``name``, ``full_name``, ``module``, ``event``, ``custom``, of which it has some.
    """

    thread: int
    flow: int
    step: int
    start: int
    end: int
    process: int
    level: int
    texts: dict[str, str]


def operations(paths: list[Path], skipped: Counter[str]) -> Iterator[Operation]:
    """The operations of ``mindspore.op_range``, as they stand there."""
    for value in values(paths, skipped):
        if len(value) < _FIXED.size:
            skipped["operations that are too short"] += 1
            continue
        thread, flow, step, start, end, process, *rest = _FIXED.unpack_from(value)
        if max(start, end) >= 2**62 or end < start:
            skipped["operations without a time"] += 1
            continue
        named = {TEXTS[kind]: content for kind, content in texts(value, _FIXED.size) if kind in TEXTS}
        yield Operation(thread, -1 if flow == NO_FLOW else flow, step, start, end, process, rest[3], named)


def values(paths: list[Path], skipped: Counter[str]) -> Iterator[bytes]:
    """The values of a file, of whatever types."""
    rest = b""
    for piece in pieces(paths, skipped):
        rest += piece
        place = 0
        while len(rest) - place >= _HEAD.size:
            _, length = _HEAD.unpack_from(rest, place)
            if length > _LONGEST:
                skipped[f"{_what(paths)} is damaged: what follows is not read"] += 1
                return
            if len(rest) - place < _HEAD.size + length:
                break
            yield rest[place + _HEAD.size : place + _HEAD.size + length]
            place += _HEAD.size + length
        rest = rest[place:]
    if rest:
        skipped[f"{_what(paths)} is cut at the end"] += 1


def _what(paths: list[Path]) -> str:
    return paths[0].name.removesuffix(".gz").removeprefix("mindspore.")


def texts(value: bytes, place: int) -> Iterator[tuple[int, str]]:
    """The texts that stand in a value from that place on, each with its type."""
    while place + _HEAD.size <= len(value):
        kind, length = _HEAD.unpack_from(value, place)
        place += _HEAD.size
        yield kind, value[place : place + length].decode("utf-8", "replace")
        place += length


def spans(paths: list[Path], skipped: Counter[str], device: int) -> Spans:
    """Operations as spans of the host, by their starts."""
    found = sorted(operations(paths, skipped), key=lambda each: (each.start, -each.end))
    names = {name: place for place, name in enumerate(dict.fromkeys(map(_name, found)))}
    rails = {key: place for place, key in enumerate(dict.fromkeys(map(_rail, found)))}
    rows = [(each.start, each.end - each.start, names[_name(each)], rails[_rail(each)], min(each.flow, 2**62)) for each in found]
    columns = table(rows, start=int, duration=int, name=int, lane=int, correlation=int)
    return Spans(
        columns["start"], columns["duration"], columns["name"].astype(np.int32), np.full(len(rows), Category.HOST_OP, np.uint8),
        columns["lane"].astype(np.int32), columns["correlation"], list(names),
        [Lane(process, thread, f"Thread {thread}", rank=device) for process, thread in rails],
    )


def _rail(operation: Operation) -> tuple[int, int]:
    return operation.process, operation.thread & 2**62 - 1


def _name(operation: Operation) -> str:
    texts = operation.texts
    return texts.get("full_name") or texts.get("name") or "::".join(filter(None, (texts.get("module"), texts.get("event")))) or "?"
