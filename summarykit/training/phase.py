"""A stretch of training or of evaluation: counts its steps and epochs and fires the hooks in order."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from summarykit.training.callbacks import CallbackList
from summarykit.training.context import RunContext

_EVENTS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")
_HOOKS = {(mode, event): sys.intern(f"on_{mode}_{event}") for mode in ("train", "eval") for event in _EVENTS}    # looked up the quicker


class Phase:
    """What training and evaluation have in common.

    A step ends when the loop comes back for the next batch. Where the user's loop was left by ``break`` it does not come
    back: such a step stays open, and is settled by whatever comes next (the next step, the end of the epoch or the run).
    """

    mode: str
    """``"train"`` or ``"eval"``: the middle of the hooks' names."""
    element: str
    """The field that holds the batch."""

    def __init__(self, context: RunContext, callbacks: CallbackList, dataset: Iterable[Any] | None, done: int = 0) -> None:
        """Make a phase.

        Args:
            context: handed to the hooks.
            callbacks: whose hooks are called.
            dataset: what ``steps()`` goes through by default.
            done: steps completed before.
        """
        self.dataset = dataset
        self.done = done
        self.in_step = False
        self.in_epoch = False
        self._context = context
        self._params = context.original_args()
        self._callbacks = callbacks

    def run(self) -> AbstractContextManager[None]:
        """The whole phase, as a ``with`` block around its steps."""
        raise NotImplementedError

    def begin(self) -> None:
        """Say that the phase begins."""
        self._params.update(mode=self.mode, cur_step_num=self.done)
        self._fire("begin")

    def begin_epoch(self) -> None:
        """Begin an epoch."""
        self.in_epoch = True
        self._fire("epoch_begin")

    def steps(self, dataset: Iterable[Any]) -> Iterator[Any]:
        """Give the batches, each as one step, until a stop is requested."""
        self.settle_step()
        for batch in dataset:
            self.begin_step(batch)
            yield batch
            if self.in_step:
                self.end_step()
            if self._context.get_stop_requested():
                return

    def report(self, values: Mapping[str, Any]) -> None:
        """Take values by name."""
        raise NotImplementedError

    def settle_step(self) -> None:
        """End a step that the user's loop left open."""
        if self.in_step:
            self.end_step()

    def begin_step(self, batch: Any) -> None:
        """Begin the next step, with this batch."""
        self._params["cur_step_num"] = self.done + 1
        self._params[self.element] = batch
        self.in_step = True
        self._fire("step_begin")

    def end_step(self, number: int | None = None) -> None:
        """End the step; ``number`` is that of the last one, where several were done in one go."""
        self.in_step = False
        self.done = self._params["cur_step_num"] = self.done + 1 if number is None else number
        self._fire("step_end")

    def end_epoch(self) -> None:
        """End the epoch, and the step left open in it."""
        self.settle_step()
        self.in_epoch = False
        self._fire("epoch_end")

    def end(self) -> None:
        """End the phase, and what is open in it."""
        if self.in_epoch:
            self.end_epoch()
        self._fire("end")

    def _fire(self, hook: str) -> None:
        self._callbacks.fire(_HOOKS[self.mode, hook], self._context)
