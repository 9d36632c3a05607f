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


def check_integer(argument: str, value: Any, least: int) -> int:
    """Refuse what is not a whole number of any type (a bool is none) in ``[least, 2**63)``; give it as an int.

    Raises:
        TypeError, ValueError: the message names the ``argument``, what came and what is allowed.
    """
    number = whole(value)
    if number is None:
        raise TypeError(f"{argument} must be an int, got {value!r}")
    if not least <= number < 2**63:
        raise ValueError(f"{argument} must be at least {least} and below 2**63, got {value!r}")
    return number
