"""What number is what brightness: any real dtype as 8- or 16-bit pixels."""

from __future__ import annotations

import numpy as np

from summarykit.notices import Notices
from summarykit.shapes import Array

NOTICES = Notices()

# Float pictures whose largest value is not above this are taken as [0, 1] with overshoot (rounding, a decoder), not as nearly black.
_UNIT_UP_TO = 2.0


def to_pixels(array: Array) -> Array:
    """Give uint8 or uint16 pixels of the same shape, by the table of `ImageKind`; clips with one warning, never wraps."""
    if array.dtype in (np.uint8, np.uint16):
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype.kind != "f":
        return _clipped(array)
    with np.errstate(all="ignore"):
        return _clipped(_without_nan(_brightness(array)))


def _brightness(array: Array) -> Array:
    """Give whole numbers, 0 to 255 where the values are in range: float32 has bits to spare for that."""
    values = array.astype(np.float32)
    values *= np.float32(255 if _largest_finite(values) <= _UNIT_UP_TO else 1)
    return np.rint(values, out=values)


def _largest_finite(values: Array) -> float:
    largest = float(values.max())
    if np.isfinite(largest):
        return largest
    return float(values[np.isfinite(values)].max(initial=-np.inf))


def _without_nan(values: Array) -> Array:
    holes = np.isnan(values)
    if holes.any():
        NOTICES.once("nan", "an image holds NaN pixels: shown as 0")
        values[holes] = 0
    return values


def _clipped(values: Array) -> Array:
    if values.min() < 0 or values.max() > 255:
        NOTICES.once("range", "an image holds values out of range (floats: 0 to 1, or 0 to 255; integers: 0 to 255): clipped")
        values = np.clip(values, 0, 255)
    return values.astype(np.uint8)
