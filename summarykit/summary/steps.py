"""Steps are whole numbers, and stay exact."""

from __future__ import annotations

from typing import Any

from summarykit.whole import whole
from summarykit.writing.options import check_integer
from summarykit.writing.resumption import Resumption


def resumption(argument: str, resume: Any) -> Resumption | None:
    """How an earlier run goes on at a step; one that is handed on stays the same.

    Raises:
        TypeError, ValueError: it is no such step; the message names the ``argument``.
    """
    if resume is None or isinstance(resume, Resumption):
        return resume
    return Resumption(check_integer(argument, resume, -(2**63)))


def integer(step: Any) -> int:
    """A step given as any type of integer, or as a float without fraction.

    Raises:
        TypeError: not an integer; a bool is none.
        ValueError: not in ``[-2**63, 2**63)``.
    """
    if isinstance(step, float) and step.is_integer():
        step = int(step)
    number = whole(step)
    if number is None:
        raise TypeError(f"step must be an integer, got {step!r} ({type(step).__name__})")
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"step must lie in [-2**63, 2**63), got {number}")
    return number
