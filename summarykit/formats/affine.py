"""CRC-32C of thousands of equally long records at once, in NumPy.

CRC-32C is affine over GF(2): the checksum of a message is the checksum of the all-zero message of its length,
XOR one table look-up per byte, the table depending only on how many bytes follow. So records that share a template differ
from the template's checksum by the look-ups of the bytes that vary, and a column of bytes (or of 16-bit words: half the look-ups) is
one ``take``. Method: linearity of CRC as in M. Adler's ``crc32_combine`` (zlib); "slicing" tables after Kounavis and Berry,
"A Systematic Approach to Building High Performance Software-Based CRC Generators", 2005.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from summarykit.formats.crc import MASK_DELTA, crc32c
from summarykit.formats.crc_table import BYTE_TABLE, UInt32
from summarykit.shapes import Bytes

_LONGEST = 1024        # longer rows are checked one call each: their tables would not fit the cache
_ROWS_AT_ONCE = 8192   # the block of rows and one table stay in the second-level cache


@cache
def byte_table(following: int) -> UInt32:
    """What a byte with ``following`` bytes behind it adds to the checksum: uint32, shape ``[256]``."""
    if following == 0:
        return BYTE_TABLE
    if following % 256 == 0:    # keeps the recursion below flat
        for step in range(following):
            byte_table(step)
    nearer = byte_table(following - 1)
    return (BYTE_TABLE[nearer & 0xFF] ^ (nearer >> 8)).astype(np.uint32)


@lru_cache(maxsize=512)
def word_table(following: int) -> UInt32:
    """The same for a little-endian 16-bit word: uint32, shape ``[65536]``."""
    low, high = byte_table(following + 1), byte_table(following)
    return (high[:, None] ^ low[None, :]).reshape(-1)


@lru_cache(maxsize=_LONGEST + 1)
def zeros_crc(length: int) -> int:
    """The checksum of ``length`` zero bytes."""
    return crc32c(bytes(length))


def column_crc(column: Bytes, following: int) -> UInt32:
    """What some columns add to the checksum of each row.

    Args:
        column: their bytes, uint8 ``[n, width]``.
        following: number of bytes that stand behind them in the row.

    Returns:
        uint32, shape ``[n]``.
    """
    width = column.shape[1]
    total = np.zeros(len(column), np.uint32)
    if width % 2:
        width -= 1
        total ^= byte_table(following)[column[:, width]]
        following += 1
    words = np.ascontiguousarray(column[:, :width]).view("<u2")
    for place in range(words.shape[1]):
        total ^= word_table(following + width - 2 - 2 * place).take(words[:, place])
    return total


def crc_rows(rows: Bytes) -> UInt32:
    """CRC-32C of each row of a uint8 matrix ``[n, length]``: uint32, shape ``[n]``."""
    length = rows.shape[1]
    if length > _LONGEST:
        return np.fromiter((crc32c(row.tobytes()) for row in rows), np.uint32, len(rows))
    crcs = np.empty(len(rows), np.uint32)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        block = rows[start : start + _ROWS_AT_ONCE]
        crcs[start : start + len(block)] = column_crc(block, 0) ^ np.uint32(zeros_crc(length))
    return crcs


def mask(crcs: UInt32) -> UInt32:
    """The masked form that record files carry, element by element."""
    rotated = (crcs >> np.uint32(15)) | (crcs << np.uint32(17))
    return rotated + np.uint32(MASK_DELTA)
