"""How numbers, sizes and times are spelled: for people, and in JSON."""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import numpy as np

_UNITS = ("B", "kB", "MB", "GB", "TB")


_SPANS = (("min", 60, "s", 1), ("h", 3600, "min", 60), ("d", 86_400, "h", 3600))
"""Unit of a span of time, its seconds, the unit of what is left, and its seconds."""
_LIMITS = {"min": 3600, "h": 86_400}


def number(value: float) -> str:
    """A number in six digits."""
    return spelled_out(value) if not math.isfinite(value) else f"{value:.6g}"


def short(value: float) -> str:
    """A number in three digits."""
    return spelled_out(value) if not math.isfinite(value) else f"{value:.3g}"


def count(value: int) -> str:
    """A count; nothing for 0."""
    return f"{value:,}" if value else ""


def some(value: int, noun: str) -> str:
    """A count and its noun: ``"1 record"``, ``"2,000 records"``."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"


def size(value: float) -> str:
    """Bytes, in thousands: ``"1.3 MB"``."""
    for unit in _UNITS:
        if value < 999.5 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"


def ago(then: float, now: float | None = None) -> str:
    """How long ago a time is, in seconds since the epoch: ``"2 min ago"``."""
    seconds = (time.time() if now is None else now) - then
    if seconds < 0:
        return time.strftime("%Y-%m-%d", time.localtime(then))
    for unit, length, limit in (("s", 1, 60), ("min", 60, 3600), ("h", 3600, 86_400), ("d", 86_400, 60 * 86_400)):
        if seconds < limit:
            return f"{int(seconds / length)} {unit} ago"
    return time.strftime("%Y-%m-%d", time.localtime(then))


def duration(seconds: float) -> str:
    """A span of time: ``"0.25 s"``, ``"1 min 05 s"``, ``"3 h 07 min"``, ``"2 d 04 h"``."""
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    unit, length, smaller, part = next(each for each in _SPANS if whole < _LIMITS.get(each[0], math.inf))
    return f"{whole // length} {unit} {whole % length // part:02d} {smaller}"


def spelled_out(value: float) -> str:
    """What JSON has no number for: ``"NaN"``, ``"Infinity"``, ``"-Infinity"``; Python's ``float`` and JavaScript's ``Number`` take them."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def plain(value: Any) -> Any:
    """A value for JSON: arrays as lists, NumPy numbers as Python's, numbers that are not finite as text."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain_list(value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return spelled_out(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def plain_list(values: Any) -> list[Any]:
    """An array as nested lists for JSON."""
    found = values.tolist()
    return found if values.dtype.kind in "biu" or np.isfinite(values).all() else plain(found)


def text(document: Any) -> str:
    """JSON in ASCII: valid in every reader and every terminal."""
    return json.dumps(plain(document), allow_nan=False)


def print_json(document: Any) -> None:
    """Print a document as JSON."""
    sys.stdout.write(text(document) + "\n")
