"""CRC-32C of a buffer: by the ``crc32c`` package, else ``google-crc32c``, else NumPy.

Record files carry it *masked* (TFRecord's rule): rotated right by 15 bits, plus a constant, so that a checksum
of data that itself holds checksums stays well distributed.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

MASK_DELTA = 0xA282EAD8

Extend = Callable[[int, Any], int]


def _by_crc32c() -> Extend:
    crc32c = _compiled_part().crc32c
    return lambda value, data: int(crc32c(data, value))


def _compiled_part() -> Any:
    """The package's compiled module alone: its ``__init__`` (with importlib.metadata and argparse) takes longer than all of ours."""
    package = None if "crc32c" in sys.modules else PathFinder.find_spec("crc32c")
    found = package and PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if not (found and found.loader):
        import crc32c

        return crc32c
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _by_google() -> Extend:
    from google_crc32c import extend

    return lambda value, data: int(extend(value, bytes(data)))    # it refuses memoryviews


def _by_numpy() -> Extend:
    from summarykit.formats.crc_numpy import extend

    return extend


def choose(*candidates: Callable[[], Extend]) -> Extend:
    """The first implementation that is installed."""
    first, *rest = candidates
    try:
        return first()
    except ImportError:
        return choose(*rest)    # the last one, by NumPy, is always there


extend: Extend = choose(_by_crc32c, _by_google, _by_numpy)
"""``extend(crc_of_what_came_before, buffer)`` gives the CRC of both together; start with 0."""


def crc32c(buffer: Any) -> int:
    """CRC-32C (Castagnoli) of a bytes-like object, as an unsigned 32-bit integer."""
    return extend(0, buffer)


def mask(crc: int) -> int:
    """The masked form that record files carry."""
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & 0xFFFFFFFF


def masked(buffer: Any) -> bytes:
    """Masked CRC-32C of a buffer as the four bytes that stand in a file."""
    return struct.pack("<I", mask(extend(0, buffer)))
