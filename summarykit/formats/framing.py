"""The record frame that both formats share (TFRecord): length, its checksum, payload, its checksum."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from summarykit.formats import crc

HEADER = 12
"""Bytes before the payload: u64 length and u32 masked CRC-32C of the length, little-endian."""

FOOTER = 4
"""Bytes behind the payload: its masked CRC-32C."""

_SMALL = 2**14    # bytes that are joined in less time than looked at one by one


def frame(*parts: Any) -> bytes:
    """One record whose payload is the concatenation of ``parts`` (bytes-like objects)."""
    return b"".join(framed(parts))


def framed(parts: Iterable[Any]) -> list[Any]:
    """The same as a list of buffers, so that a large array need not be joined into yet another copy."""
    parts = [*parts]
    if {part.__class__ for part in parts} == {bytes} and sum(map(len, parts)) <= _SMALL:
        parts = [b"".join(parts)]    # before anything is done with each
    parts = [memoryview(part).cast("B") for part in parts]
    checksum = 0
    for part in parts:
        checksum = crc.extend(checksum, part)
    length = struct.pack("<Q", sum(map(len, parts)))
    return [length + crc.masked(length), *parts, struct.pack("<I", crc.mask(checksum))]
