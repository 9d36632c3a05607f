"""How fast training is: scalars ``throughput/...``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams


class Mark(NamedTuple):
    """Where training stood.

    Attributes:
        seconds: of a clock that evaluations stop.
        step: optimizer updates completed.
        batches: (micro-)batches begun; None where nobody counts them.
        waited: seconds that it waited for data; None where nobody has measured any.
    """

    seconds: float
    step: int
    batches: int | None
    waited: float | None


class Throughput(Part):
    """Steps and samples per second, and the share of the time spent on waiting for data, since the step collected before.

    No device is waited for: after many steps the host runs as fast as the device. The length of an evaluation does not count. Samples
    are those of the collected step's batch; what a part of this library costs counts as training.
    """

    key = "collect_throughput"
    of_machine = True

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._evaluated = 0.0
        self._evaluation_begun: float | None = None
        self._previous: Mark | None = None

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Start the clock."""
        self._previous = self._mark(params)

    def evaluation_begin(self, params: CallbackParams) -> None:
        """Stop the clock."""
        self._evaluation_begun = time.perf_counter()

    def evaluation_end(self, params: CallbackParams, sink: Sink) -> None:
        """Let the clock go on."""
        if self._evaluation_begun is not None:
            self._evaluated += time.perf_counter() - self._evaluation_begun
            self._evaluation_begun = None

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect what came since the step collected before."""
        before, now = self._previous, self._mark(params)
        self._previous = now
        if before is not None and now.step > before.step and now.seconds > before.seconds:
            for name, value in _rates(before, now, batch_size(params.get("train_dataset_element"))):
                sink.add("scalar", f"throughput/{name}", value)

    def _mark(self, params: CallbackParams) -> Mark:
        seconds = time.perf_counter() - self._evaluated
        return Mark(seconds, params.get("cur_step_num") or 0, params.get("micro_step"), params.get("data_wait"))


def _rates(before: Mark, now: Mark, samples: int | None) -> Iterator[tuple[str, float]]:
    seconds, steps = now.seconds - before.seconds, now.step - before.step
    yield "steps_per_second", steps / seconds
    if samples is not None:
        batches = steps if now.batches is None or before.batches is None else max(steps, now.batches - before.batches)
        yield "samples_per_second", batches * samples / seconds
    if now.waited is not None:
        yield "data_wait_share", min(1.0, (now.waited - (before.waited or 0.0)) / seconds)


def batch_size(batch: Any) -> int | None:
    """Samples of a batch: the length of its first array, by its ``shape`` alone; None where it has none."""
    if isinstance(batch, Mapping):
        batch = next(iter(batch.values()), None)
    if isinstance(batch, (list, tuple)) and batch and getattr(batch[0], "shape", ()):
        batch = batch[0]
    shape = getattr(batch, "shape", None)
    try:
        return int(shape[0]) if shape else None
    except (TypeError, ValueError):    # a shape of unknown length
        return None
