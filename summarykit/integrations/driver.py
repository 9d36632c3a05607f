"""Turns a framework's events into our hooks: what every adapter stands on."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from weakref import WeakSet

from summarykit.ranks import detect
from summarykit.training.batches import length
from summarykit.training.callback import Callback
from summarykit.training.callbacks import CallbackList
from summarykit.training.context import CallbackParams, RunContext
from summarykit.training.evaluation import Evaluation
from summarykit.training.phase import Phase
from summarykit.training.training import Training


class Driver:
    """Tells callbacks what a framework does, and copes with what it leaves out.

    Every method may be called at any time and twice: an event that nothing is open for changes nothing. Many frameworks have no hook
    for exceptions; a run whose end nobody tells is closed by the next one, or when the program ends. A driver is copied and pickled
    as its callbacks; a run that is open stays with the original.

    One step is one optimizer update, whatever a framework counts: ``step_end`` is told how many are done, and where there is none
    more the step stays open and takes the next (micro-)batch too.

    Attributes:
        params: the fields of the current or last run; add to them what becomes known on the way.
        current: the training that is open; None where none is.
    """

    def __init__(self, callbacks: Callback | Iterable[Callback] | None = ()) -> None:
        """Take the callbacks; see ``CallbackList`` for the errors."""
        self._callbacks = CallbackList(callbacks)
        self._context = RunContext({})
        self.params: CallbackParams = self._context.original_args()
        self.current: Training | None = None
        self._evaluation: Evaluation | None = None
        self._runs: dict[type[Phase], ExitStack] = {}

    def __getstate__(self) -> list[Callback]:
        return self._callbacks.callbacks

    def __setstate__(self, callbacks: list[Callback]) -> None:
        Driver.__init__(self, callbacks)

    @property
    def training(self) -> bool:
        """True between ``train_begin`` and the end of the training."""
        return self.current is not None

    @property
    def evaluating(self) -> bool:
        """True between ``eval_begin`` and ``eval_end``."""
        return self._evaluation is not None

    @property
    def in_step(self) -> bool:
        """True while a step of the training is open."""
        return self.current is not None and self.current.in_step

    @property
    def awake(self) -> bool:
        """True while a step of the training is open at which a callback looks."""
        return self.current is not None and self.current.awake

    @property
    def step(self) -> int:
        """Optimizer updates completed."""
        return self.current.done if self.current else int(self.params.get("cur_step_num", 0))

    @property
    def wakes_at(self) -> int:
        """No callback looks at the steps before this one, once a step has ended: whoever calls this need not tell them."""
        return self._callbacks.wakes_at

    @property
    def stop_requested(self) -> bool:
        """True once a callback asked for the end of the training."""
        return self._context.get_stop_requested()

    def train_begin(self, *, initial_step: int = 0, initial_epoch: int = 0, **fields: Any) -> None:
        """Training begins; one that is open ends.

        Args:
            initial_step: optimizer updates done before, by the run that this one continues.
            initial_epoch: epochs done before.
            **fields: fields of ``CallbackParams``: ``network``, ``optimizer``, ``train_dataset``, ``epoch_num`` (epochs to run),
                ``batch_num`` (steps per epoch; by default the data set's length) … and these: ``last_step_num`` (the step that will be
                the last, where the framework knows), ``loss_kind`` (what a reported ``loss`` is: ``"instant"``, ``"running_mean"``
                or ``"window_mean"``: recorded with the lineage), ``hyper_parameters`` (settings by name, as the framework has them),
                ``framework`` (its name), ``rank`` and ``device_number`` (of this process, and how many there are; by default they are
                found out).
        """
        self.close()
        counts = {"cur_step_num": initial_step, "initial_step": initial_step}
        self._describe(self._fields(fields) | counts)
        self.current = Training(self._context, self._callbacks, fields.get("train_dataset"), initial_step, initial_epoch)
        self._open(self.current)

    def epoch_begin(self) -> None:
        """The next epoch begins; one that is open ends."""
        if self.current:
            self.current.begin_epoch()

    def step_begin(self, batch: Any = None) -> None:
        """A batch begins: a new step, or the next micro-batch of the open one (``micro_step`` counts them through the run)."""
        if self.current and not self._evaluation:
            if not self.current.in_epoch:
                self.current.begin_epoch()
            self.current.begin_batch(batch)

    def pass_by(self, step: int) -> None:
        """Steps of one batch each, up to this one, were done while all callbacks slept; the last of all is told to them."""
        training = self.current
        if training and step > training.done:
            self.params["micro_step"] += step - training.done
            training.done = self.params["cur_step_num"] = step

    def step_end(
        self,
        reported: Mapping[str, Any] | None = None,
        *,
        step: int | None = None,
        more: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """A batch has ended, and the step with it, if there was an update.

        Args:
            reported: values by name, of the step.
            step: optimizer updates completed; by default one more than before.
            more: gives further values of the step; called only where somebody looks at them.
        """
        training = self.current
        if training is None or not training.in_step:
            return
        if reported:
            training.report(reported)
        if step is not None and step <= training.done:
            return
        if more:
            params = self.params
            params["reported"] = Deferred(params["reported"], more)
        training.end_step(step)

    def report(self, values: Mapping[str, Any]) -> None:
        """Hand over values: of the open evaluation, of the open step, or, between steps, of the one just completed.

        The last are told at once to the callbacks that have a method ``on_train_report(run_context)``: in ``reported``.
        """
        if phase := self._evaluation or self.current:
            if phase.in_step or self._evaluation:
                phase.report(values)
            elif self.current:
                self.current.catch_up()
                with self.params.restored("reported"):
                    self.params["reported"] = values
                    self._callbacks.fire("on_train_report", self._context)

    def epoch_end(self, reported: Mapping[str, Any] | None = None) -> None:
        """The epoch ends, having reported these values."""
        if self.current and self.current.in_epoch:
            self.current.drop_step()
            self.current.report(reported or {})
            self.current.end_epoch()

    def eval_begin(self, dataset: Any = None, **fields: Any) -> None:
        """An evaluation begins, within the training or (then with the fields of ``train_begin``) on its own."""
        if self._evaluation:
            return
        if self.current:
            self.current.catch_up()
        else:
            self._describe({"cur_step_num": self.step} | self._fields(fields))
        # A stop that is requested of the training does not cut the evaluation short.
        self._evaluation = Evaluation(RunContext(self.params), self._callbacks, dataset)
        self._open(self._evaluation, self._between_steps())

    def eval_step_begin(self, batch: Any = None) -> None:
        """A batch of the evaluation begins."""
        if self._evaluation and not self._evaluation.in_step:
            self._evaluation.begin_step(batch)

    def eval_step_end(self) -> None:
        """A batch of the evaluation has ended."""
        if self._evaluation:
            self._evaluation.settle_step()

    def eval_end(self, metrics: Mapping[str, Any] | None = None) -> None:
        """The evaluation ends with these metrics."""
        if self._evaluation:
            self._evaluation.report(metrics or {})
            self._leave(Evaluation)

    def eval_failed(self, error: BaseException) -> None:
        """An exception ends the evaluation; the training may go on."""
        self._leave(Evaluation, error)

    def train_end(self) -> None:
        """Training, and whatever is open in it, ends well."""
        if self.current:
            self.current.drop_step()
        self._leave_all(None)

    def failed(self, error: BaseException) -> None:
        """An exception ends whatever is open; it is the framework's to raise it."""
        self._leave_all(error)

    def close(self) -> None:
        """End what is open and whose end nobody told: it counts as interrupted, and the ``*_end`` hooks are not called."""
        self._leave_all(LeftOpenError("the framework did not tell how it ended"))

    def _describe(self, fields: dict[str, Any]) -> None:
        self._context = RunContext(fields)
        self.params = self._context.original_args()

    def _fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        processes = given.get("device_number") or detect().world_size
        defaults = {
            "batch_num": length(given.get("train_dataset")),
            "train_network": given.get("network"),
            "list_callback": list(self._callbacks),
            "dataset_sink_mode": False,
            "parallel_mode": "stand_alone" if processes == 1 else "data_parallel",
            "device_number": processes,
            "loss_kind": "instant",
        }
        return defaults | dict(given)

    @contextmanager
    def _between_steps(self) -> Iterator[None]:
        """A step that is open does not count yet."""
        with self.params.restored("cur_step_num"):
            self.params["cur_step_num"] = self.step
            yield

    def _open(self, phase: Phase, *around: AbstractContextManager[None]) -> None:
        _running.add(self)
        run = self._runs[type(phase)] = ExitStack()
        try:
            for manager in (*around, phase.run()):
                run.enter_context(manager)
        except BaseException:
            self._leave(type(phase))
            raise

    def _leave_all(self, error: BaseException | None) -> None:
        try:
            self._leave(Evaluation, error)
        finally:
            self._leave(Training, error)

    def _leave(self, kind: type[Phase], error: BaseException | None = None) -> None:
        run = self._runs.pop(kind, None)
        try:
            if run:
                run.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)
        finally:
            if kind is Evaluation:
                self._evaluation = None
            else:
                self.current = None


class LeftOpenError(BaseException):
    """Stands in ``exception`` where a framework has no hook for exceptions, and something unknown ended the run."""


class Deferred(MutableMapping[str, Any]):
    """Values of which some are fetched when they are first looked at: on most steps nobody does."""

    def __init__(self, known: Mapping[str, Any], fetch: Callable[[], Mapping[str, Any]]) -> None:
        """Take those that are known, which count more, and the function that gives the others; it is called at most once."""
        self._known, self._fetch = known, fetch
        self._values: dict[str, Any] | None = None

    def _now(self) -> dict[str, Any]:
        if self._values is None:
            self._values = {**self._fetch(), **self._known}
        return self._values

    def __getitem__(self, name: str) -> Any:
        return self._known[name] if name in self._known and self._values is None else self._now()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known or name in self._now()

    def __setitem__(self, name: str, value: Any) -> None:
        self._now()[name] = value

    def __delitem__(self, name: str) -> None:
        del self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


_running: WeakSet[Driver] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Close what still runs; the exception that the program ends by, if any, is what ended it."""
    error = getattr(sys, "last_value", None)
    with ExitStack() as stack:
        for driver in list(_running):
            stack.callback(driver.failed, error) if error else stack.callback(driver.close)
