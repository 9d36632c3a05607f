"""Callbacks that profile a stretch of the training: by steps, or by epochs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from summarykit.profiler.profiler import Profiler
from summarykit.profiler.ranges import ranges
from summarykit.profiler.toggle import Toggle
from summarykit.training.context import RunContext
from summarykit.training.marks import unwatched


class StopAtStep(Toggle):
    """Profiles the steps from ``start_step`` to ``stop_step``, both included.

    ::

        StopAtStep(10, 20, profiler=profiler)
        StopAtStep([(10, 12), (1000, 1002)])          # several windows

    Steps are the training's own: optimizer updates completed. A window is opened right before its first step, so that the wait for
    that step's batch is in it, and is closed after its last one, also where an exception or the end of the training comes first.
    In frameworks whose hooks come once for several steps (data sink, ``steps_per_execution``) a window begins and ends with these; it
    is said, and ``StopAtEpoch`` is what fits.
    """

    unit = "step"

    def __init__(self, start_step: int | Iterable[tuple[int, int]], stop_step: int | None = None, profiler: Profiler | None = None) -> None:
        """Make the callback.

        Args:
            start_step: the first step to be profiled, 1 or more; or pairs of first and last, ascending.
            stop_step: the last one; None where pairs are given.
            profiler: what records, made with ``start_profile=False``; ``analyse()`` is then yours to call. None: one of its own, which
                writes to ``./data`` and is analysed in the end; the report goes to the log.

        Raises:
            TypeError, ValueError: no integers, or a range that is empty, begins before 1 or overlaps with another.
        """
        super().__init__(ranges(self.unit, start_step, stop_step), profiler)
        self._stride = self._hooks = self._alarm = 0
        self._params: dict[str, Any] = {}

    def on_train_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self._params = run_context.original_args()
        self._last = self._reached()
        self._stride, self._hooks = 1, 0
        self._watch()
        self._open_for(self._last + 1, self._last + 1)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """See ``Callback``: what came before the epoch is not part of its first step."""
        self.profiler.between()

    def on_eval_end(self, run_context: RunContext) -> None:
        """See ``Callback``: an evaluation is not part of the next step."""
        self.profiler.between()

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        step = run_context.original_args()["cur_step_num"]
        self._open_for(step, step + self._stride - 1)
        self.profiler.step_begin(step)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        step = run_context.original_args()["cur_step_num"]
        self._learn(step)
        self.profiler.step_end(step)
        self._ended(step)
        self._open_for(step + 1, step + self._stride)
        self._alarm = min((start for start, stop in self.ranges if (start, stop) not in self._opened), default=sys.maxsize) - self._stride
        if not self.profiler.recording and self._hooks > 1 and step < self._alarm:
            self.on_train_step_begin = unwatched    # type: ignore[method-assign,assignment]  # far from a window a step costs a comparison
            self.on_train_step_end = self._far    # type: ignore[method-assign]

    def _far(self, run_context: RunContext) -> None:
        """What the end of a step is while no window is near."""
        if run_context.original_args()["cur_step_num"] >= self._alarm:
            self._last = run_context.original_args()["cur_step_num"] - self._stride
            self._watch()
            self.on_train_step_end(run_context)

    def _watch(self) -> None:
        for hook in ("on_train_step_begin", "on_train_step_end"):
            self.__dict__.pop(hook, None)

    def _reached(self) -> int:
        return int(self._params.get("cur_step_num", 0) or 0)

    def _learn(self, step: int) -> None:
        """How many steps lie between two hooks."""
        stride = step - self._last
        if stride > 1 and self._stride == 1:
            what = "StopAtStep: the hooks of steps come once for %d steps here: windows begin and end with these; use StopAtEpoch"
            self.profiler.notices.once("stride", what, stride)
        self._stride = max(1, stride)
        self._hooks += 1


class StopAtEpoch(Toggle):
    """Profiles the epochs from ``start_epoch`` to ``stop_epoch``, both included; otherwise like ``StopAtStep``."""

    unit = "epoch"

    def __init__(
        self, start_epoch: int | Iterable[tuple[int, int]], stop_epoch: int | None = None, profiler: Profiler | None = None
    ) -> None:
        """Make the callback.

        Args:
            start_epoch: the first epoch to be profiled, 1 or more; or pairs of first and last, ascending.
            stop_epoch: the last one; None where pairs are given.
            profiler: see ``StopAtStep``.

        Raises:
            TypeError, ValueError: see ``StopAtStep``.
        """
        super().__init__(ranges(self.unit, start_epoch, stop_epoch), profiler)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        epoch = run_context.original_args()["cur_epoch_num"]
        self._open_for(epoch, epoch)
        self.profiler.between()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self._ended(run_context.original_args()["cur_epoch_num"])

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self.profiler.step_begin(run_context.original_args()["cur_step_num"])

    def on_train_step_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self.profiler.step_end(run_context.original_args()["cur_step_num"])

    def on_eval_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self.profiler.between()
