"""Whole numbers of any type: Python's own, NumPy's, an array or a tensor that holds one."""

from __future__ import annotations

import operator
from typing import Any


def whole(value: Any) -> int | None:
    """The int that a value is; None where it is none, as a bool is none."""
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
