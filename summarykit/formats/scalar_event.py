"""Scalar events one at a time, the plain way: for a few of them, and what the matrix of ``scalars`` must equal byte for byte.

The formats' events differ in the key before the number only, so what stands around it is made once for all of them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

from summarykit.formats import crc, wire

EXACT_VALUE = 1000
"""Field of ``Summary.Value`` that carries the float64 where float32 would round; viewers skip it."""

_TAG, _VALUE, _SUMMARY = wire.key(1, wire.BYTES), wire.key(1, wire.BYTES), wire.key(5, wire.BYTES)
_STEP, _WALL_TIME = wire.key(2, wire.VARINT), wire.key(1, wire.FIXED64)
_EXACT = wire.key(EXACT_VALUE, wire.FIXED64)
_SINGLE, _DOUBLE, _CHECKSUM = struct.Struct("<f"), struct.Struct("<d"), struct.Struct("<I")


def payload(number_field: int, tag: bytes, step: int, wall_time: float, value: float) -> bytes:
    """The payload of one event whose float32 is in field ``number_field`` of ``Summary.Value``."""
    before, after = _around_key(tag, step, wall_time, value)
    return before + number_key(number_field) + after


def records(number_fields: Sequence[int], tag: bytes, step: int, wall_time: float, value: float) -> list[bytes]:
    """The framed record of one event for each of several formats."""
    before, after = _around_key(tag, step, wall_time, value)
    head = _header(len(before) + 1 + len(after))
    framed = []
    for number_field in number_fields:
        content = before + number_key(number_field) + after
        framed.append(head + content + _CHECKSUM.pack(crc.mask(crc.extend(0, content))))
    return framed


@lru_cache(maxsize=16)
def number_key(number_field: int) -> bytes:
    """The key of a float32 field below 16: one byte."""
    return wire.key(number_field, wire.FIXED32)


def _around_key(tag: bytes, step: int, wall_time: float, value: float) -> tuple[bytes, bytes]:
    """What stands before and behind the key of the number."""
    number, rounded = _narrowed(value)
    if rounded:
        number += _EXACT + _DOUBLE.pack(value)
    named = _TAG + wire.varint(len(tag)) + tag
    length = len(named) + 1 + len(number)
    before = wire.varint(len(length_of_value := wire.varint(length)) + 1 + length)
    return _SUMMARY + before + _VALUE + length_of_value + named, number + _STEP + wire.varint(step) + _WALL_TIME + _DOUBLE.pack(wall_time)


def _narrowed(value: float) -> tuple[bytes, bool]:
    """The number in float32, and whether that is another one (a NaN stays one)."""
    try:
        number = _SINGLE.pack(value)
    except OverflowError:
        return _SINGLE.pack(float("inf") if value > 0 else float("-inf")), True
    return number, _SINGLE.unpack(number)[0] != value == value


@lru_cache(maxsize=1024)
def _header(length: int) -> bytes:
    """What stands before a payload of that length."""
    packed = struct.pack("<Q", length)
    return packed + crc.masked(packed)
