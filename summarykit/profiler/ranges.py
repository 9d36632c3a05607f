"""Ranges of steps or epochs as a user gives them, checked."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from summarykit.whole import check_integer

Ranges = tuple[tuple[int, int], ...]


def ranges(unit: str, start: Any, stop: Any) -> Ranges:
    """Pairs of first and last, checked.

    Raises:
        TypeError, ValueError: the message names the argument, what came and what is allowed.
    """
    if isinstance(start, Iterable) and not isinstance(start, (str, bytes)):
        if stop is not None:
            raise TypeError(f"stop_{unit}: nothing is needed where start_{unit} is a list of pairs, got {stop!r}")
        pairs = [tuple(pair) if isinstance(pair, (tuple, list)) else (pair,) for pair in start]
    else:
        pairs = [(start, stop)]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise TypeError(f"start_{unit}: a {unit}, or pairs of a first and a last one are needed, got {start!r}")
    for pair in pairs:
        if check_integer(f"stop_{unit}", pair[1], 1) < check_integer(f"start_{unit}", pair[0], 1):
            raise ValueError(f"start_{unit}, stop_{unit}: 1 <= start_{unit} <= stop_{unit} is needed, got {pair[0]} and {pair[1]}")
    if any(after[0] <= before[1] for before, after in pairwise(pairs)):
        raise ValueError(f"start_{unit}: ascending pairs that do not overlap are needed, got {pairs!r}")
    return tuple((int(first), int(last)) for first, last in pairs)
