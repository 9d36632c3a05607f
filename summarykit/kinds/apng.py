"""Animated PNG: pictures that every browser plays, without any extra and without loss.

The format: W3C, Portable Network Graphics (PNG) Specification, 3rd edition, "Animation information". The first frame is an ordinary
picture, so what knows no animation shows that one; the others follow in chunks of their own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from math import ceil

from summarykit.kinds.png import ENDING, chunk, compressed, opening
from summarykit.shapes import Array

FASTEST = 65535
"""Frames a second: the format counts in 16 bits."""


def encode(frames: Array, fps: float) -> bytes:
    """Give the file of an animation that repeats for ever.

    Args:
        frames: shape ``[frames, height, width, channels]``, each as `png.encode` takes them.
        fps: frames a second, ``1 / FASTEST`` to ``FASTEST``.
    """
    control = chunk(b"acTL", struct.pack(">II", len(frames), 0))
    return b"".join([opening(frames[0]), control, *_chunks(frames, _delay(fps)), ENDING])


def _chunks(frames: Array, delay: Fraction) -> Iterator[bytes]:
    """Each frame's place and delay, then its pixels; all but the first one's are numbered, too."""
    numbers = count()
    height, width = frames.shape[1:3]
    for place, frame in enumerate(frames):
        yield chunk(b"fcTL", struct.pack(">5I2H2B", next(numbers), width, height, 0, 0, delay.numerator, delay.denominator, 0, 0))
        pixels = compressed(frame)
        yield chunk(b"fdAT", struct.pack(">I", next(numbers)) + pixels) if place else chunk(b"IDAT", pixels)


def _delay(fps: float) -> Fraction:
    """Seconds a frame, as a fraction of two 16-bit numbers."""
    seconds = 1 / Fraction(fps)
    return seconds.limit_denominator(FASTEST // max(1, ceil(seconds)))
