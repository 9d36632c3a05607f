"""Little-endian bytes of dtypes that NumPy lacks, widened to the smallest NumPy dtype that holds them exactly."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from summarykit.shapes import Array

WIDENED = {"bfloat16": 2, "float8_e5m2": 1, "float8_e4m3fn": 1, "int4": 1, "uint4": 1}
"""Name of the dtype -> bytes of one stored value."""


def widen(raw: bytes | Array, name: str) -> Array:
    """The values of a dtype of ``WIDENED``: one-dimensional float32, float16, int8 or uint8."""
    bits = np.frombuffer(raw, f"<u{WIDENED[name]}")
    if name == "bfloat16":
        return (bits.astype(np.uint32) << np.uint32(16)).view("<f4")
    if name == "float8_e5m2":
        return (bits.astype(np.uint16) << np.uint16(8)).view("<f2")
    if name == "float8_e4m3fn":
        return _e4m3fn().take(bits)
    return _int4(bits) if name == "int4" else bits & np.uint8(0xF)


def _int4(bits: Array) -> Array:
    low = (bits & np.uint8(0xF)).astype(np.int8)
    return np.where(low > 7, low - 16, low).astype(np.int8)


@lru_cache(maxsize=1)
def _e4m3fn() -> Array:
    """All 256 values: bias 7, no infinities, NaN where all bits but the sign are set."""
    code = np.arange(256)
    exponent, fraction = (code >> 3) & 0xF, code & 7
    normal = np.ldexp(1 + fraction / 8, exponent - 7)
    magnitude = np.where(exponent > 0, normal, np.ldexp(fraction / 8, -6))
    magnitude[code & 0x7F == 0x7F] = np.nan
    return np.where(code & 0x80, -magnitude, magnitude).astype("<f2")
