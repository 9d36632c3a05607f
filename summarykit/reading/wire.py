"""Protocol-buffer fields, one after the other, without knowing the message: enough to find things in it.

Format: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIDTH = {FIXED64: 8, FIXED32: 4}
_WINDOW = 4096


class MalformedError(ValueError):
    """Bytes that are no message."""


class Field(NamedTuple):
    """One field: its number and wire type, and where its content is; ``value`` is a varint's number."""

    number: int
    wire: int
    start: int
    stop: int
    value: int


def fields(data: Any, start: int, stop: int) -> Iterator[Field]:
    """The fields of the message in ``data[start:stop]``.

    Raises:
        MalformedError: it is none.
    """
    while start < stop:
        key = data[start]
        if key < 0x80:    # one byte, as nearly always
            start += 1
        else:
            key, start = varint(data, start, stop)
        wire, value, begin = key & 7, 0, start
        if wire == VARINT:
            value, start = varint(data, start, stop)
        elif wire == BYTES:
            length, begin = varint(data, start, stop)
            start = begin + length
        else:
            start += _WIDTH.get(wire, stop)
        if start > stop:
            raise MalformedError(f"field {key >> 3} of wire type {wire} at {begin} reaches beyond {stop}")
        yield Field(key >> 3, wire, begin, start, value)


def varint(data: Any, start: int, stop: int) -> tuple[int, int]:
    """A variable-length integer, and where it ends."""
    if start < stop and data[start] < 0x80:
        return data[start], start + 1
    value = shift = 0
    for at in range(start, min(stop, start + 10)):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at + 1
        shift += 7
    raise MalformedError(f"no number at {start}")


def signed(value: int) -> int:
    """A varint's number as int64."""
    return value - (1 << 64) if value >> 63 else value


def double(data: Any, at: int) -> float:
    """Eight bytes as a float64."""
    return float(struct.unpack("<d", data[at : at + 8])[0])


def single(data: Any, at: int) -> float:
    """Four bytes as a float32."""
    return float(struct.unpack("<f", data[at : at + 4])[0])


def text(raw: Any) -> str:
    """A tag; bytes that are no UTF-8 become escapes."""
    return bytes(raw).decode("utf-8", "backslashreplace")


class FileWindow:
    """A part of a file that can be indexed like bytes without being read whole: positions count from ``offset``."""

    def __init__(self, descriptor: int, offset: int) -> None:
        self._descriptor = descriptor
        self._offset = offset
        self._begin = 0
        self._cache = b""

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return os.pread(self._descriptor, place.stop - place.start, self._offset + place.start)
        if not 0 <= place - self._begin < len(self._cache):
            self._begin, self._cache = place, os.pread(self._descriptor, _WINDOW, self._offset + place)
            if not self._cache:
                raise MalformedError(f"the file ends before {self._offset + place}")
        return self._cache[place - self._begin]
