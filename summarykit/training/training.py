"""A training: its steps are numbered through all epochs, may take several batches, and pass by callbacks that sleep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import repeat
from time import perf_counter
from typing import Any
from weakref import ref

from summarykit.training.batches import told_last
from summarykit.training.callbacks import CallbackList
from summarykit.training.context import RunContext
from summarykit.training.marks import MARKS
from summarykit.training.phase import Phase

_HELD = ("train_dataset_element", "net_outputs", "reported", "epoch_reported")  # let go of when a run is over


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
        self._ended: dict[str, Any] = {"reported": {}, "net_outputs": None}    # the last step that ended
        self._untold = False    # the callbacks slept through its end

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
        return told_last(batches)

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
        """Leave an open step as if it had never been begun: the last one is the one before."""
        if self.in_step:
            self._params.update(self._ended, micro_step=self._micro_done, train_dataset_element=None)    # its batch is held no longer
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
        ended = {"cur_step_num": done, "reported": params["reported"], "net_outputs": params.get("net_outputs")}
        if done < self._wakes_at:
            self._ended, self._untold = ended, True
        else:
            self.catch_up()
            self._ended = ended    # so that nothing of the step before takes memory while this one is recorded
            self._fire("step_end")
            self._wakes_at = self._callbacks.wakes_at

    def catch_up(self) -> None:
        """Tell callbacks that slept where training stands: that the last step has ended."""
        if self._untold:
            self._untold = False
            with self._params.restored(*self._ended):
                self._params.update(self._ended)
                super()._fire("step_end")

    def _fire(self, hook: str) -> None:
        self.catch_up()
        super()._fire(hook)
