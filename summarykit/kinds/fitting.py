"""What a network is fed, made visible: values of any range as [0, 1], small pictures enlarged."""

from __future__ import annotations

import numpy as np

from summarykit.shapes import Array

SMALL = 32
"""Pictures with fewer rows or columns are enlarged, so that one sees something."""


def in_range(images: Array) -> Array:
    """Bring floats into [0, 1], by the range of the finite ones: what lies there already stays as it is."""
    if images.dtype.kind != "f":
        return images
    finite = images[np.isfinite(images)]
    low, high = finite.min(initial=0), finite.max(initial=1)
    if (low, high) == (0, 1):
        return images
    fitted = images / 2    # the range of halves cannot overflow
    fitted -= low / 2
    fitted /= high / 2 - low / 2
    return fitted


def enlarged(batch: Array) -> Array:
    """Repeat the pixels of small pictures ``[N, H, W, C]``, until their shorter side has 64 or more."""
    side = min(batch.shape[1:3])
    times = -(-2 * SMALL // side) if side < SMALL else 1
    return batch if times == 1 else batch.repeat(times, 1).repeat(times, 2)
