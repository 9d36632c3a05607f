"""The first table of CRC-32C (reflected polynomial 0x82F63B78): what each last byte adds."""

from __future__ import annotations

from typing import Any

import numpy as np

UInt32 = np.ndarray[Any, np.dtype[np.uint32]]

_POLYNOMIAL = 0x82F63B78


def _table() -> UInt32:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1).astype(np.uint32)
    return table


BYTE_TABLE = _table()
