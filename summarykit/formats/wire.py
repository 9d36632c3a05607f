"""Protocol-buffer wire format, by hand: the few pieces that writing needs (reading goes through protobuf).

Format: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from summarykit.shapes import Array

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_ONE_BYTE = [bytes([number]) for number in range(0x80)]


def varint(number: int) -> bytes:
    """An integer in ``[-2**63, 2**64)``; negative ones take ten bytes."""
    if 0 <= number < 0x80:
        return _ONE_BYTE[number]
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


@cache
def key(field: int, wire_type: int) -> bytes:
    """The key in front of a field."""
    return varint(field << 3 | wire_type)


def integer(field: int, number: int) -> bytes:
    """An int32, int64, uint64, bool or enum field."""
    return key(field, VARINT) + varint(number)


def double(field: int, number: float) -> bytes:
    """A double field."""
    return key(field, FIXED64) + struct.pack("<d", number)


def single(field: int, number: float) -> bytes:
    """A float field; what float32 cannot hold becomes infinite."""
    try:
        return key(field, FIXED32) + struct.pack("<f", number)
    except OverflowError:
        return key(field, FIXED32) + struct.pack("<f", float("inf") if number > 0 else float("-inf"))


def data(field: int, content: Any) -> bytes:
    """A bytes field, or a message field from its serialised form."""
    return key(field, BYTES) + varint(len(content)) + bytes(content)


def text(field: int, content: str) -> bytes:
    """A string field."""
    return data(field, content.encode())


def any_text(field: int, content: str) -> bytes:
    """A string field of text that nobody checked: what UTF-8 cannot say becomes ``?``."""
    return data(field, content.encode("utf-8", "replace"))


def head(field: int, length: int) -> bytes:
    """What stands before ``length`` bytes of content of a bytes or message field."""
    return key(field, BYTES) + varint(length)


def memory(array: Array) -> memoryview:
    """The bytes of an array in C order, not copied where they lie so already."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def nested(field: int, parts: Iterable[Any]) -> list[Any]:
    """A message field whose content is a list of buffers, itself as a list of buffers (nothing is joined)."""
    parts = list(parts)
    return [head(field, sum(memoryview(part).nbytes for part in parts)), *parts]


def fields(payload: bytes) -> list[tuple[int, Any]]:
    """Number and content of each field of a small message: int for numbers, bytes for the rest.

    Raises:
        ValueError: it is no message.
    """
    found: list[tuple[int, Any]] = []
    place = 0
    while place < len(payload):
        number, place = _read_varint(payload, place)
        value: Any
        if number & 7 == VARINT:
            value, place = _read_varint(payload, place)
        else:
            length, place = _read_varint(payload, place) if number & 7 == BYTES else (_fixed_width(number & 7), place)
            value, place = payload[place : place + length], place + length
        found.append((number >> 3, value))
    if place > len(payload):
        raise ValueError("the message is cut")
    return found


def signed(number: int) -> int:
    """An int64 from its varint."""
    return number - (number >> 63 << 64)


def _read_varint(payload: bytes, place: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if place >= len(payload):
            raise ValueError("the message is cut")
        number |= (payload[place] & 0x7F) << shift
        place += 1
        if payload[place - 1] < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, place
    raise ValueError("a varint of more than ten bytes")


def _fixed_width(wire_type: int) -> int:
    if wire_type not in (FIXED32, FIXED64):
        raise ValueError(f"wire type {wire_type}")
    return 8 if wire_type == FIXED64 else 4
