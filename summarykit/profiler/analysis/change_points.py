"""Where a series changes its level for good: binary segmentation of clipped values.

Source: A. J. Scott, M. Knott, "A cluster analysis method for grouping means in the analysis of variance", Biometrics 30, 1974; the noise is
estimated from differences of neighbours, so that the change itself does not count as noise.
"""

from __future__ import annotations

import numpy as np

from summarykit.shapes import Floats

_FEWEST = 5
_SMALLEST = 0.05
_CERTAIN = 12.0


def change_points(values: Floats) -> list[int]:
    """Find the changes.

    Args:
        values: float64, shape ``[n]``, in order of time.

    Returns:
        Indexes of the first value of each new level, ascending. A level has five values or more and differs by 5 % or more from the one
        before.
    """
    if len(values) < 2 * _FEWEST:
        return []
    low, high = np.percentile(values, (5, 95))
    clipped = np.clip(values, low, high)
    noise = max(float(np.median(np.abs(np.diff(clipped)))) / 0.954, 1e-9 * abs(float(np.median(clipped))), 1e-300)
    return _within(clipped, noise, 0)


def _within(values: Floats, noise: float, offset: int) -> list[int]:
    """Changes of a part that begins at ``offset``."""
    place = _best(values, noise)
    if place is None:
        return []
    return [*_within(values[:place], noise, offset), offset + place, *_within(values[place:], noise, offset + place)]


def _best(values: Floats, noise: float) -> int | None:
    """The cut that leaves least variance on both sides, if it is worth one."""
    count = len(values)
    if count < 2 * _FEWEST:
        return None
    left = np.arange(_FEWEST, count - _FEWEST + 1)
    total = np.cumsum(values)
    before, after = total[left - 1] / left, (total[-1] - total[left - 1]) / (count - left)
    gain = left * (count - left) / count * (before - after) ** 2 / noise**2
    best = int(np.argmax(gain))
    level = float(np.median(values[: left[best]]))
    new = float(np.median(values[left[best] :]))
    sure = gain[best] > _CERTAIN * np.log(count + 1) and abs(new - level) > _SMALLEST * abs(level)
    return int(left[best]) if sure else None
