"""What ``collect_landscape`` says, checked: the same for the collector and for `SummaryLandscape`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

UNITS = ("step", "epoch")
SIZES = range(3, 257)
FEWEST = 3    # points that span a plane
KEYS = ("landscape_size", "unit", "create_landscape", "num_samples", "intervals", "max_bytes")


@dataclass(frozen=True)
class LandscapeSettings:
    """What to collect and to draw, under MindSpore's names.

    Attributes:
        intervals: the steps (or epochs) whose weights are stored, one landscape for each row: each ascending, three or more.
        landscape_size: points along each axis, 3 to 256.
        unit: ``"step"`` or ``"epoch"``.
        train: draw a landscape around the path of each interval.
        result: draw one around the last weights.
        num_samples: samples of the data set that a loss is averaged over, > 0.
        max_bytes: bytes that all checkpoints may take; None: as many as it needs.
    """

    intervals: tuple[tuple[int, ...], ...]
    landscape_size: int = 40
    unit: str = "step"
    train: bool = True
    result: bool = True
    num_samples: int = 2048
    max_bytes: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> LandscapeSettings:
        """Check a ``collect_landscape`` that stands alone.

        Raises:
            TypeError, ValueError: the message names the key, what came and what is allowed.
        """
        check(given)
        if "intervals" not in given:
            raise ValueError("collect_landscape: 'intervals' is needed: the steps or epochs to store, such as [[1, 2, 3], [8, 9, 10]]")
        return cls(_intervals(given["intervals"])).changed({key: value for key, value in given.items() if key != "intervals"})

    def changed(self, given: Mapping[str, Any] | None) -> LandscapeSettings:
        """The same with other values where ``given`` has some.

        Raises:
            TypeError, ValueError: as `of`.
        """
        if given is None:
            return self
        check(given)
        fields = {key: given[key] for key in ("landscape_size", "unit", "num_samples", "max_bytes") if key in given}
        fields |= dict(given.get("create_landscape", {}))
        if "intervals" in given:
            fields["intervals"] = _intervals(given["intervals"])
        return replace(self, **fields)

    @property
    def wanted(self) -> tuple[int, ...]:
        """Every step (or epoch) to store, ascending, each once: intervals may overlap."""
        return tuple(sorted({number for interval in self.intervals for number in interval}))


def check(given: Any) -> None:
    """Refuse what is no ``collect_landscape``.

    Raises:
        TypeError, ValueError: the message names the key, what came and what is allowed.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"collect_landscape: a dict is needed, got {given!r}")
    for key, value in given.items():
        if key not in KEYS:
            raise ValueError(f"collect_landscape: unknown key {key!r}; allowed: {', '.join(KEYS)}")
        _CHECKS[key](value)


def integer(name: str, value: Any, allowed: range) -> int:
    """Refuse what is no integer of a range; a bool is none.

    Raises:
        TypeError, ValueError: the message names it, what came and what is allowed.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"collect_landscape: {name} must be an integer, got {value!r}")
    if value not in allowed:
        raise ValueError(f"collect_landscape: {name} must be in {allowed.start} … {allowed.stop - 1}, got {value!r}")
    return value


def _intervals(value: Any) -> tuple[tuple[int, ...], ...]:
    if not (isinstance(value, (list, tuple)) and all(isinstance(interval, (list, tuple)) for interval in value)):
        raise TypeError(f"collect_landscape: intervals must be a list of lists of integers, got {value!r}")
    if not value:
        raise ValueError("collect_landscape: intervals must hold at least one list of steps or epochs, got []")
    return tuple(_interval(interval) for interval in value)


def _interval(given: list[Any] | tuple[Any, ...]) -> tuple[int, ...]:
    numbers = tuple(integer("each number of intervals", number, range(1, 2**63)) for number in given)
    if len(numbers) < FEWEST:
        raise ValueError(f"collect_landscape: each of intervals needs at least {FEWEST} numbers, got {list(numbers)}")
    if list(numbers) != sorted(set(numbers)):
        raise ValueError(f"collect_landscape: each of intervals must ascend, got {list(numbers)}")
    return numbers


def _unit(value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"collect_landscape: unit must be a text, got {value!r}")
    if value not in UNITS:
        raise ValueError(f"collect_landscape: unit must be one of {', '.join(map(repr, UNITS))}, got {value!r}")


def _create(value: Any) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"collect_landscape: create_landscape must be a dict, got {value!r}")
    for key, wanted in value.items():
        if key not in ("train", "result"):
            raise ValueError(f"collect_landscape: create_landscape: unknown key {key!r}; allowed: 'train', 'result'")
        if not isinstance(wanted, bool):
            raise TypeError(f"collect_landscape: create_landscape: {key!r} must be True or False, got {wanted!r}")


_CHECKS = {
    "landscape_size": lambda value: integer("landscape_size", value, SIZES),
    "num_samples": lambda value: integer("num_samples", value, range(1, 2**63)),
    "max_bytes": lambda value: value is None or integer("max_bytes", value, range(1, 2**63)),
    "unit": _unit,
    "create_landscape": _create,
    "intervals": _intervals,
}
