"""A stretch of training or of evaluation: counts its steps and epochs and fires the hooks in order."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import repeat
from time import perf_counter
from typing import Any
from weakref import ref

from summarykit.training.callbacks import CallbackList
from summarykit.training.context import RunContext
from summarykit.training.marks import MARKS

_EVENTS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")
_HOOKS = {(mode, event): sys.intern(f"on_{mode}_{event}") for mode in ("train", "eval") for event in _EVENTS}    # looked up the quicker
_HELD = ("train_dataset_element", "net_outputs", "reported", "epoch_reported")  # let go of when a run is over
_END = object()
_OF_TRAINING = ("mode", "batch_num", "cur_step_num", "train_step_num", "eval_dataset_element")


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


class Training(Phase):
    """Training: its steps are numbered through all epochs."""

    mode, element = "train", "train_dataset_element"

    def __init__(
        self, context: RunContext, callbacks: CallbackList, dataset: Iterable[Any] | None, done: int = 0, epoch: int = 0,
        accumulation: int = 1,
    ) -> None:  # fmt: skip
        """Make the training (see ``Phase`` for the rest).

        Args:
            context: handed to the hooks.
            callbacks: whose hooks are called.
            dataset: gives the (micro-)batches.
            done: steps completed before.
            epoch: epochs completed before.
            accumulation: micro-batches of one step.
        """
        super().__init__(context, callbacks, dataset, done)
        self.epoch = epoch
        self.update_due = True
        self._accumulation = accumulation
        self._micro_done = 0
        self._wakes_at = 0
        self._untold: dict[str, Any] | None = None    # the step whose end the callbacks slept through

    @contextmanager
    def run(self) -> Iterator[None]:
        """The whole training, as a ``with`` block: the callbacks are entered and left, and ``status`` says how it ended."""
        params = self._params
        self._leave_others()
        # Marked twice: the callbacks see on leaving how the run ended, and the run fails where one of them raises in that.
        with MARKS.during(ref(self)), params.restored(*_HELD), params.marked(), self._callbacks.entered(), params.marked():
            self.begin()
            try:
                yield
            except GeneratorExit:
                self.end()
                raise
            except BaseException:
                self.catch_up()
                raise
            self.end()

    @property
    def awake(self) -> bool:
        """True while a step is open of whose beginning and end the callbacks are told."""
        return self.in_step and self.done + 1 >= self._wakes_at

    def _leave_others(self) -> None:
        """Tell callbacks that come here from a training whose end nobody told how far that came: later it is this one that they follow."""
        ours = {id(callback) for callback in self._callbacks}
        for training in [running() for running in MARKS.running]:
            if training is not None and not ours.isdisjoint(map(id, training._callbacks)):
                training.catch_up()

    def begin(self) -> None:
        """Begin the training."""
        self._params.update(reported={}, epoch_reported={}, micro_step=0)
        super().begin()

    def begin_epoch(self) -> None:
        """Begin the next epoch; one that is open ends first."""
        if self.in_epoch:
            self.end_epoch()
        self.epoch += 1
        self._params["cur_epoch_num"] = self.epoch
        super().begin_epoch()

    def steps(self, dataset: Iterable[Any]) -> Iterator[Any]:
        """Give the (micro-)batches; a step takes ``accumulation`` of them, the last one of the data what is left."""
        self.settle_step()
        for number, (batch, last) in enumerate(self._told_last(self._timed(dataset)), 1):
            self.update_due = last or number % self._accumulation == 0
            self.begin_batch(batch)
            yield batch
            if self.in_step and self.update_due:
                self.end_step()
            if self._context.get_stop_requested() and not self.in_step:
                return

    def begin_batch(self, batch: Any) -> None:
        """Begin a (micro-)batch: with it a step, unless one is open."""
        params = self._params
        begun = params["micro_step"]
        params["micro_step"] = begun + 1
        if self.in_step:
            params[self.element] = batch
        else:
            self._micro_done = begun
            self.begin_step(batch)

    def _told_last(self, batches: Iterator[Any]) -> Iterator[tuple[Any, bool]]:
        """With each batch, whether it is the last: this needs the next one, so it is not asked for where a batch is a step."""
        if self._accumulation == 1:
            return zip(batches, repeat(True))
        return _told_last(batches)

    def _timed(self, dataset: Iterable[Any]) -> Iterator[Any]:
        """Add up the seconds that training waits for its data."""
        params, batches = self._params, iter(dataset)
        params.setdefault("data_wait", 0.0)
        while True:
            fetch = MARKS.next
            begun = perf_counter()
            batch = fetch(batches, self)    # the end is told by what is no batch: so whoever watches knows whose batches they are
            params["data_wait"] += perf_counter() - begun
            if batch is self:
                return
            yield batch

    def report(self, values: Mapping[str, Any]) -> None:
        """Take values of the open step, or, between steps, of the epoch. They are held as they are."""
        self._params["reported" if self.in_step else "epoch_reported"].update(values)
        if self.in_step and "loss" in values:
            self._params["net_outputs"] = values["loss"]

    def settle_step(self) -> None:
        """End a step left open: it was completed if it came to its update and reported something, else it never was one."""
        if self.in_step and self.update_due and self._params["reported"]:
            self.end_step()
        self.drop_step()

    def drop_step(self) -> None:
        """Leave an open step as if it had never been begun."""
        if self.in_step:
            self._params["micro_step"] = self._micro_done
        self.in_step = False
        self._params["cur_step_num"] = self.done

    def end_epoch(self) -> None:
        """End the epoch; what it and its evaluations reported is then told."""
        super().end_epoch()
        self._params["epoch_reported"] = {}
        for field in ("metrics", "eval_results"):
            self._params.pop(field, None)

    def begin_step(self, batch: Any) -> None:
        """See ``Phase``; callbacks that sleep are not called, and a step costs little."""
        params, number = self._params, self.done + 1
        params["reported"] = {}
        params.pop("net_outputs", None)
        params["cur_step_num"] = number
        params["train_dataset_element"] = batch
        self.in_step = True
        if number >= self._wakes_at:
            self._fire("step_begin")

    def end_step(self, number: int | None = None) -> None:
        """See ``Phase``."""
        params = self._params
        self.in_step = False
        self.done = params["cur_step_num"] = done = self.done + 1 if number is None else number
        if done < self._wakes_at:
            self._untold = {"cur_step_num": done, "reported": params["reported"], "net_outputs": params.get("net_outputs")}
        else:
            self._fire("step_end")
            self._wakes_at = self._callbacks.wakes_at

    def catch_up(self) -> None:
        """Tell callbacks that slept where training stands: that the last step has ended."""
        untold, self._untold = self._untold, None
        if untold:
            with self._params.restored(*untold):
                self._params.update(untold)
                super()._fire("step_end")

    def _fire(self, hook: str) -> None:
        self.catch_up()
        super()._fire(hook)


class Evaluation(Phase):
    """An evaluation: its steps are its own, and what it reports is its ``metrics``."""

    mode, element = "eval", "eval_dataset_element"

    @contextmanager
    def run(self) -> Iterator[None]:
        """The whole evaluation, as a ``with`` block; what it changed of a training around it is put back."""
        params = self._params
        with params.restored(*_OF_TRAINING), self._callbacks.entered():
            params["train_step_num"] = params["cur_step_num"]
            self.begin()
            yield
            self.end()

    def begin(self) -> None:
        """Begin the one pass over the data."""
        self._params.update(valid_dataset=self.dataset, metrics={}, batch_num=length(self.dataset))
        super().begin()
        self.begin_epoch()

    def report(self, values: Mapping[str, Any]) -> None:
        """Take values: of one name the last counts."""
        self._params["metrics"].update(values)


def _told_last(batches: Iterator[Any]) -> Iterator[tuple[Any, bool]]:
    batch = next(batches, _END)
    while batch is not _END:
        following = next(batches, _END)
        yield batch, following is _END
        batch = following


def length(dataset: Any) -> int | None:
    """Number of batches, or None where the data set cannot say."""
    size = getattr(dataset, "get_dataset_size", getattr(dataset, "__len__", None))
    try:
        return None if size is None else int(size())
    except Exception:  # noqa: BLE001 - a data set's own code; all that is lost is a number
        return None
