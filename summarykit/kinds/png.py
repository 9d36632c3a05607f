"""PNG files from pixel arrays, without Pillow: the 'up' filter in NumPy, level 1 of isal (extra ``isal``) or else of zlib.

The format: W3C, Portable Network Graphics (PNG) Specification, 3rd edition. Each row is stored as the difference to the row above (filter
type 2), which NumPy computes for the whole picture at once; for 512x512x3 that takes about 2 ms with isal and 15 ms with zlib, at about
the size of Pillow's default, which takes 58 ms.
"""

from __future__ import annotations

import functools
import struct
import zlib
from typing import Any

import numpy as np

from summarykit.registry import imported
from summarykit.shapes import Array

_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # channels -> grey, grey + alpha, RGB, RGBA
_UP = 2

# What is alike within 4 KiB isal finds. In 32 KiB it finds also what is alike by chance, whose distance takes more bits than it saves:
# photographs then take 4 % longer and up to 2 % more bytes, drawings up to 20 % more bytes.
_WINDOW_BITS = 12
_SIGNATURE = b"\x89PNG\r\n\x1a\n"

ENDING = b"\0\0\0\0IEND\xaeB`\x82"
"""What every file ends with: a chunk without content."""


def encode(pixels: Array) -> bytes:
    """Give the PNG file of a picture.

    Args:
        pixels: shape ``[height, width, channels]``, 1 to 4 channels (grey, grey + alpha, RGB, RGBA), uint8 or uint16, none of them empty.
    """
    return b"".join([opening(pixels), *_parts(b"IDAT", compressed(pixels)), ENDING])


def opening(pixels: Array) -> bytes:
    """Give what a file of such pixels begins with: signature and header."""
    height, width, channels = pixels.shape
    depth = 8 * pixels.dtype.itemsize
    return _SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, _COLOUR_TYPES[channels], 0, 0, 0))


def compressed(pixels: Array) -> bytes:
    """Give the pixels, filtered and compressed."""
    module, settings = compressor()
    packed: bytes = module.compress(filtered(pixels).data, **settings)
    return packed


def filtered(pixels: Array) -> Array:
    """Give the rows as bytes (16 bits: big-endian), each as the difference to the row above, behind its filter type."""
    ordered = np.ascontiguousarray(pixels, pixels.dtype.newbyteorder(">"))
    rows = ordered.view(np.uint8).reshape(pixels.shape[0], -1)
    out = np.empty((rows.shape[0], rows.shape[1] + 1), np.uint8)
    out[:, 0] = _UP
    out[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=out[1:, 1:])
    return out


def chunk(kind: bytes, content: bytes) -> bytes:
    """Give one chunk of a file: its length, kind, content and checksum."""
    return b"".join(_parts(kind, content))


def _parts(kind: bytes, content: bytes) -> list[bytes]:
    crc32 = compressor()[0].crc32
    return [struct.pack(">I", len(content)) + kind, content, struct.pack(">I", crc32(content, crc32(kind)))]


@functools.cache
def compressor() -> tuple[Any, dict[str, int]]:
    """Give the fastest module at hand that compresses as zlib does, looked for at the first picture, and how it is to compress."""
    try:
        return imported("isal.isal_zlib"), {"level": 1, "wbits": _WINDOW_BITS}
    except ImportError:
        return zlib, {"level": 1}
