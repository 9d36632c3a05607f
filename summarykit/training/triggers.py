"""When something is due: small pure rules that combine with ``|`` and ``&``.

    every(steps=100) | last()
    every(epochs=2) & between(epochs=(10, 50))
    at(steps=[1, 10, 100]) | every(seconds=60)

A rule is a function of where training stands and where it stood at the preceding call. So a loop that counts ten steps at
once misses nothing: ``every(steps=4)`` fires where at least one multiple of four lies behind the preceding call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

NEVER = 2**63
"""A step that no run comes to."""


class Place(NamedTuple):
    """Where training stands.

    Attributes:
        step: optimizer updates completed.
        epoch: the current epoch, 1-based.
        seconds: since training began.
    """

    step: int
    epoch: int = 1
    seconds: float = 0.0


class Trigger:
    """The base of all rules; one of your own overrides ``fires``."""

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """Tell whether something is due.

        Args:
            now: where training stands.
            previous: where it stood at the preceding call; None at the first call of a run.
            final: True at the last step.
        """
        raise NotImplementedError

    def sleeps_until(self, step: int) -> int:
        """The first step after this one at which it may fire, so that nobody asks before. A rule that cannot tell says the next.

        The last step of a run, and the first call, are asked about in any case. While it sleeps ``previous`` stays where it was.
        """
        return step + 1

    def __call__(
        self, *, step: int, epoch: int = 1, seconds: float = 0.0, previous: Place | None = None, final: bool = False
    ) -> bool:
        """``fires``, in one call."""
        return self.fires(Place(step, epoch, seconds), previous, final)

    def __or__(self, other: Trigger) -> Trigger:
        return AnyOf(self, other) if isinstance(other, Trigger) else NotImplemented

    def __and__(self, other: Trigger) -> Trigger:
        return AllOf(self, other) if isinstance(other, Trigger) else NotImplemented


@dataclass(frozen=True)
class AnyOf(Trigger):
    """Due where one of two rules says so."""

    one: Trigger
    other: Trigger

    def sleeps_until(self, step: int) -> int:
        """See ``Trigger.sleeps_until``."""
        return min(self.one.sleeps_until(step), self.other.sleeps_until(step))

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See ``Trigger.fires``."""
        return self.one.fires(now, previous, final) or self.other.fires(now, previous, final)


@dataclass(frozen=True)
class AllOf(Trigger):
    """Due where both rules say so."""

    one: Trigger
    other: Trigger

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See ``Trigger.fires``."""
        return self.one.fires(now, previous, final) and self.other.fires(now, previous, final)


@dataclass(frozen=True)
class First(Trigger):
    """Due at the first call of a run, whatever the number of that step."""

    def sleeps_until(self, step: int) -> int:
        """See ``Trigger.sleeps_until``."""
        return NEVER

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See ``Trigger.fires``."""
        return previous is None


@dataclass(frozen=True)
class Last(Trigger):
    """Due at the last step."""

    def sleeps_until(self, step: int) -> int:
        """See ``Trigger.sleeps_until``."""
        return NEVER

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See ``Trigger.fires``."""
        return final


@dataclass(frozen=True)
class Every(Trigger):
    """Due where a multiple of ``n`` lies between the preceding call and now."""

    unit: int
    n: float

    def sleeps_until(self, step: int) -> int:
        """See ``Trigger.sleeps_until``."""
        return step + 1 if self.unit else int((step // self.n + 1) * self.n)

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See ``Trigger.fires``."""
        return now[self.unit] // self.n > _before(now, previous)[self.unit] // self.n


@dataclass(frozen=True)
class Doubling(Trigger):
    """Due at the steps n, 2n, 4n, 8n …: for values too large for every step of a run whose length nobody knows."""

    n: int

    def sleeps_until(self, step: int) -> int:
        """See ``Trigger.sleeps_until``."""
        return self.n << (step // self.n).bit_length()

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See ``Trigger.fires``."""
        return (now.step // self.n).bit_length() > (_before(now, previous).step // self.n).bit_length()


@dataclass(frozen=True)
class At(Trigger):
    """Due where one of the numbers lies between the preceding call and now."""

    unit: int
    numbers: tuple[float, ...]

    def sleeps_until(self, step: int) -> int:
        """See ``Trigger.sleeps_until``."""
        return step + 1 if self.unit else int(min((number for number in self.numbers if number > step), default=NEVER))

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See ``Trigger.fires``."""
        start, stop = _before(now, previous)[self.unit], now[self.unit]
        return any(start < number <= stop for number in self.numbers)


@dataclass(frozen=True)
class Between(Trigger):
    """Due from ``start`` to ``stop``, both included."""

    unit: int
    start: float
    stop: float

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See ``Trigger.fires``."""
        return now[self.unit] >= self.start and _before(now, previous)[self.unit] < self.stop


def first() -> Trigger:
    """Make the rule ``First``."""
    return First()


def last() -> Trigger:
    """Make the rule ``Last``."""
    return Last()


def every(*, steps: int | None = None, epochs: int | None = None, seconds: float | None = None) -> Trigger:
    """Make the rule ``Every``, of one unit.

    Raises:
        TypeError: not exactly one unit is given, or it is no number (steps and epochs: no integer).
        ValueError: it is not positive.
    """
    unit, n = _one_unit("every", steps=steps, epochs=epochs, seconds=seconds)
    return Every(unit, _number("every", n, unit, positive=True))


def at(*, steps: int | Iterable[int] | None = None, epochs: int | Iterable[int] | None = None) -> Trigger:
    """Make the rule ``At``, of one number or several.

    Raises:
        TypeError: not exactly one unit is given, or one of the numbers is no integer.
    """
    unit, given = _one_unit("at", steps=steps, epochs=epochs)
    numbers = tuple(given) if isinstance(given, Iterable) else (given,)
    return At(unit, tuple(_number("at", number, unit) for number in numbers))


def between(
    *,
    steps: tuple[int, int] | None = None,
    epochs: tuple[int, int] | None = None,
    seconds: tuple[float, float] | None = None,
) -> Trigger:
    """Make the rule ``Between``, of one unit, as ``(start, stop)``.

    Raises:
        TypeError: not exactly one unit is given, or its limits are no numbers.
        ValueError: ``start`` is above ``stop``.
    """
    unit, (start, stop) = _one_unit("between", steps=steps, epochs=epochs, seconds=seconds)
    if _number("between", start, unit) > _number("between", stop, unit):
        raise ValueError(f"between: start {start!r} is above stop {stop!r}")
    return Between(unit, start, stop)


def _before(now: Place, previous: Place | None) -> Place:
    """Where training stood: at the first call of a run, one step and one epoch earlier, at second 0."""
    return previous or Place(now.step - 1, now.epoch - 1, 0.0)


def _one_unit(rule: str, **given: Any) -> tuple[int, Any]:
    chosen = [(name, value) for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise TypeError(f"{rule}: exactly one of {', '.join(given)} is needed, got {len(chosen)}")
    ((name, value),) = chosen
    return ("steps", "epochs", "seconds").index(name), value


def _number(rule: str, value: Any, unit: int, positive: bool = False) -> Any:
    kind = Real if Place._fields[unit] == "seconds" else Integral
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{rule}: {'a number' if kind is Real else 'an integer'} is needed, got {value!r}")
    if positive and not float(value) > 0:
        raise ValueError(f"{rule}: a number above 0 is needed, got {value!r}")
    return value
