"""Points out of record files, decoded by hand: shares no code with the package (nor with protobuf), so it can judge what was written."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from testkit import records

SCALAR = {"mindspore": 3, "tensorboard": 2}
KINDS = {"mindspore": {4: "image", 8: "tensor", 9: "histogram"}, "tensorboard": {4: "image", 8: "tensor", 5: "histogram"}}
LAST_STEP = 2**63 - 1


class Point(NamedTuple):
    """A recorded value; of anything but a scalar ``value`` is the message's bytes."""

    kind: str
    tag: str
    step: int
    value: Any
    wall_time: float


def format_of(path: Path) -> str:
    return "tensorboard" if "tfevents" in Path(path).name else "mindspore"


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Field numbers and contents: int of a varint, bytes of everything else."""
    place = 0
    while place < len(message):
        key, place = varint(message, place)
        if key & 7 == 0:
            value, place = varint(message, place)
        else:
            size, place = varint(message, place) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], place)
            value, place = message[place : place + size], place + size
        yield key >> 3, value


def varint(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return number, place


def signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def whole(path: Path) -> tuple[list[bytes], int]:
    """Payloads of all whole records, and the bytes of a torn one behind them; any other damage raises."""
    found, data = [], Path(path).read_bytes()
    end = 0
    try:
        for offset, payload in records.walk(data, str(path)):
            found.append(payload)
            end = offset + 16 + len(payload)
    except records.BadRecord as error:
        if "torn" not in str(error):
            raise
    return found, len(data) - end


def of_payload(payload: bytes, layout: str) -> Iterator[Point]:
    event = dict(fields(payload))
    wall_time, step = struct.unpack("<d", event.get(1, bytes(8)))[0], signed(event.get(2, 0))
    for number, message in fields(event.get(5, b"")):
        assert number == 1
        value = dict(fields(message))
        yield Point(*_value(value, layout), step, *_content(value, layout), wall_time)


def _value(value: dict[int, Any], layout: str) -> tuple[str, str]:
    kinds = [kind for number, kind in KINDS[layout].items() if number in value]
    return (kinds or ["scalar"])[0], value[1].decode()


def _content(value: dict[int, Any], layout: str) -> list[Any]:
    for number in KINDS[layout]:
        if number in value:
            return [value[number]]
    rounded = struct.unpack("<f", value[SCALAR[layout]])[0]
    if 1000 not in value:
        return [rounded]
    exact = struct.unpack("<d", value[1000])[0]
    assert _single(exact) == rounded, (exact, rounded)
    return [exact]


def _single(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def points(path: Path) -> list[Point]:
    """All points of a file that may end in a torn record and has no other damage."""
    return [point for payload in whole(path)[0] for point in of_payload(payload, format_of(path))]


def files(directory: Path, layout: str) -> list[Path]:
    """Record files of one format below a directory, in the order of their names."""
    return [path for path in records.record_files(directory) if format_of(path) == layout]


def all_points(directory: Path, layout: str = "mindspore") -> list[Point]:
    """All points of one format below a directory: file by file, each in its order."""
    return [point for path in files(directory, layout) for point in points(path)]


def scalars(directory: Path, tag: str | None = None, layout: str = "mindspore") -> list[tuple[int, float]]:
    """(step, value) of a tag's scalars in the files' order; of both formats this must be the same."""
    return [(p.step, p.value) for p in all_points(directory, layout) if p.kind == "scalar" and tag in (None, p.tag)]


def sound(directory: Path) -> list[Point]:
    """All scalars, once it is certain that both formats hold the same and that every file is sound to its last byte."""
    found = {}
    for layout in SCALAR:
        read = [(path, *whole(path)) for path in files(directory, layout)]
        assert [path.name for path, _, torn in read if torn] == []
        found[layout] = [p for _, payloads, _ in read for payload in payloads for p in of_payload(payload, layout) if p.kind == "scalar"]
    assert repr(found["mindspore"]) == repr(found["tensorboard"]), "the two formats differ"    # as text: a NaN equals itself there
    return found["mindspore"]


def both(directory: Path, tag: str | None = None) -> list[tuple[int, float]]:
    """(step, value) of ``sound`` scalars, file by file."""
    return [(p.step, p.value) for p in sound(directory) if tag in (None, p.tag)]


def by_tag(directory: Path) -> dict[str, list[tuple[int, float]]]:
    """The same for each tag."""
    found: dict[str, list[tuple[int, float]]] = {}
    for point in sound(directory):
        found.setdefault(point.tag, []).append((point.step, point.value))
    return found


def purges(path: Path) -> list[int]:
    """Steps of the session starts in a TensorBoard file: the second one of a run hides what is older from its step on."""
    events: Iterable[dict[int, Any]] = (dict(fields(payload)) for payload in whole(path)[0])
    return [signed(event.get(2, 0)) for event in events if 7 in event]
