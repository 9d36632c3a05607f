"""CRC-32C in NumPy, for machines where no package brings it: about 100 MB/s.

The buffer is cut into as many streams as each is long; all advance together, one byte a turn, and their checksums are then joined
in pairs by the linear operator "append n zero bytes".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from summarykit.formats.crc_table import BYTE_TABLE, UInt32


@lru_cache(maxsize=64)
def _append_zeros(count: int) -> UInt32:
    """The operator on the 32 bits of a CRC register, as one uint32 per bit."""
    if count == 1:
        bits = (np.uint32(1) << np.arange(32, dtype=np.uint32)).astype(np.uint32)
        return (BYTE_TABLE[bits & 0xFF] ^ (bits >> 8)).astype(np.uint32)
    half = _append_zeros(count // 2)
    whole = _apply(half, half)
    return _apply(_append_zeros(1), whole) if count % 2 else whole


def _apply(operator: UInt32, registers: UInt32) -> UInt32:
    bits = (registers[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    return np.bitwise_xor.reduce(np.where(bits, operator, np.uint32(0)), axis=1).astype(np.uint32)


def extend(crc: int, data: Any) -> int:
    """CRC-32C of what gave ``crc`` followed by ``data``."""
    array = np.frombuffer(data, np.uint8)
    length = max(1, int(len(array) ** 0.5))
    streams = len(array) // length
    columns = array[: streams * length].reshape(streams, length).T
    registers = np.zeros(streams, np.uint32)
    if streams:
        registers[0] = crc ^ 0xFFFFFFFF
        for column in np.ascontiguousarray(columns):
            registers = BYTE_TABLE[(registers ^ column) & 0xFF] ^ (registers >> 8)
    register = _join(registers, length) if streams else crc ^ 0xFFFFFFFF
    for byte in array[streams * length :].tolist():
        register = int(BYTE_TABLE[(register ^ byte) & 0xFF]) ^ (register >> 8)
    return register ^ 0xFFFFFFFF


def _join(registers: UInt32, length: int) -> int:
    while len(registers) > 1:
        odd = len(registers) % 2
        if odd:    # a zero register in front changes nothing
            registers = np.concatenate([np.zeros(1, np.uint32), registers])
        registers = _apply(_append_zeros(length), registers[0::2]) ^ registers[1::2]
        length *= 2
    return int(registers[0])
