"""Values that are recorded in the call, each with its own step: what SummaryWriter's methods are made of."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from time import time
from typing import Any, NamedTuple

from summarykit.errors import RefusedValueError
from summarykit.kinds.ready import Made, Ready
from summarykit.shapes import Shape
from summarykit.summary.figures import together
from summarykit.summary.recorder import Frozen, Recorder
from summarykit.summary.steps import integer
from summarykit.summary.tags import check_tag
from summarykit.writing import Batch, Writer, batch
from summarykit.writing.flat import flatten

_NOTHING: frozenset[str] = frozenset()


class Place(NamedTuple):
    """Where a value stands in the run: its step, and the seconds since the epoch."""

    step: int
    wall_time: float


class DirectRecorder(Recorder):
    """Records at once. A closed one opens new files when it is used again, as the SummaryWriters of others do.

    ``_known`` are the tags of the short way: a float under one of them, with an int as its step, needs no look at anything else.
    """

    def __init__(self, writer: Writer) -> None:
        """Record into a writer."""
        self._tags: set[str] = set()
        self._default_step: Any = None
        self._default_time: Any = None
        self._past: dict[str, Any] = {}
        super().__init__(writer)
        self._arm()

    @contextmanager
    def use_metadata(self, *, global_step: int | None = None, walltime: float | None = None) -> Iterator[Any]:
        """Within this context, calls that are given no step or time take these.

        Args:
            global_step: the step.
            walltime: seconds since the epoch.
        """
        before = self._default_step, self._default_time
        self._default_step, self._default_time = global_step, walltime
        self._arm()
        try:
            yield self
        finally:
            self._default_step, self._default_time = before
            self._arm()

    def close(self, timeout: float = 5.0) -> None:
        """Flush and close the files; a later call opens new ones.

        Args:
            timeout: seconds to wait without any progress: where the storage hangs, closing goes on in the background.

        Raises:
            StorageError: writing failed since the last call, and ``raise_exception`` is set.
        """
        self._known: set[str] | frozenset[str] = _NOTHING
        super().close(timeout)

    def stats(self) -> dict[str, Any]:
        """What became of the values so far, as ``SummaryRecord.stats()`` tells it."""
        return together(self._past, super().stats())

    def _arm(self) -> None:
        """Open the short way, where nothing else must be looked at."""
        plain = self._default_step is None and self._default_time is None
        self._known = self._tags if plain and not self._strict and not self._writer.closed else _NOTHING

    def _reopen(self) -> None:
        self._past = self.stats()
        self._adopt(type(self._writer)(self._writer.options))
        self._arm()

    def _record(self, plugin: str, tag: str, value: Any, step: Any, wall_time: Any, **options: Any) -> None:
        """Record one value of any kind."""
        place = self._place(plugin, tag, step, wall_time)
        frozen = self._freeze(plugin, tag, value, options) if place is not None and self._check(plugin, tag) else None
        if place is not None and frozen is not None:
            self._put([(tag, frozen)], place)

    def _record_shape(self, kind: str, tag: str, shape: Shape, step: Any, wall_time: Any) -> None:
        """Record what needs no kind any more."""
        place = self._place(kind, tag, step, wall_time)
        if place is not None and self._check(kind, tag):
            self._put([(tag, (Ready(kind), Made(shape)))], place)

    def _record_numbers(self, tags: Collection[str], values: Collection[Any], step: Any, wall_time: Any) -> None:
        """Record the scalars of one step: all at once where they are floats."""
        place = self._place("scalar", next(iter(tags), ""), step, wall_time)
        if place is None or not tags:
            return
        if {*map(type, values)} == {float} and self._tags.issuperset(tags):
            self._hand_over(flatten(tags, values, *place), [])
            return
        wanted = [(tag, value) for tag, value in zip(tags, values, strict=True) if self._check("scalar", tag)]
        frozen = [(tag, self._freeze("scalar", tag, value, {})) for tag, value in wanted]
        self._put([(tag, each) for tag, each in frozen if each is not None], place)

    def _put(self, values: list[tuple[str, Frozen]], place: Place) -> None:
        """Hand over frozen values of one place."""
        numbers = {tag: snapshot for tag, (_, snapshot) in values if isinstance(snapshot, float)}
        batches = [batch(kind, {tag: snapshot}, *place) for tag, (kind, snapshot) in values if not isinstance(snapshot, float)]
        self._hand_over(flatten(numbers, numbers.values(), *place), batches)

    def _hand_over(self, flat: list[Any], batches: list[Batch]) -> None:
        if self._writer.closed:
            self._reopen()
        self._writer.put(flat, batches)
        self._raise_failure()

    def _place(self, plugin: str, tag: str, step: Any, wall_time: Any) -> Place | None:
        """Tell the place; None where a step or time is none, and the value is refused."""
        step = self._default_step if step is None else step
        wall_time = self._default_time if wall_time is None else wall_time
        try:
            return Place(0 if step is None else integer(step), time() if wall_time is None else _seconds(wall_time))
        except (TypeError, ValueError) as error:
            self._refuse(plugin, tag, RefusedValueError(str(error)))
            return None

    def _refuses(self, call: str, tag: object, values: object) -> bool:
        """Whether this is no mapping of names to values; then it is refused, as one value."""
        wrong = not isinstance(values, Mapping)
        if wrong:
            error = RefusedValueError(f"{call} takes a dict of names and values; got a value of type {type(values).__name__}")
            self._refuse("scalar", str(tag), error)
        return wrong

    def _check(self, plugin: str, tag: str) -> bool:
        """Whether this is a tag; where not, the value is refused."""
        try:
            if tag not in self._tags:
                check_tag("tag", tag)
                self._tags.add(tag)
        except (TypeError, ValueError) as error:
            self._refuse(plugin, str(tag), RefusedValueError(str(error)))
            return False
        return True


def _seconds(wall_time: Any) -> float:
    try:
        seconds = float(wall_time)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not math.isfinite(seconds):
        raise ValueError(f"walltime must be a finite number of seconds since the epoch, got {wall_time!r}")
    return seconds

