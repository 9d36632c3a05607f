"""Callbacks for a hand-written loop: it stays the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import TracebackType
from typing import Any

from summarykit.notices import Notices
from summarykit.ranks import detect
from summarykit.training.batches import iterable, length
from summarykit.training.callback import Callback
from summarykit.training.callbacks import CallbackList
from summarykit.training.context import CallbackParams, RunContext, Status
from summarykit.training.evaluation import Evaluation
from summarykit.training.phase import Phase
from summarykit.training.training import Training
from summarykit.whole import check_integer


class Loop:
    """Tells callbacks what a loop does.

    ::

        with Loop(model, optimizer, batches, epochs=3, callbacks=[SummaryCollector("./summary")]) as loop:
            for epoch in loop.epochs():
                for batch in loop.steps():
                    loss = ...                              # your own training code
                    loop.report(loss=loss)
                with loop.evaluation(test_batches):
                    for batch in loop.steps():
                        ...
                    loop.report(accuracy=accuracy)

    One batch is one step, and a step is one optimizer update; it ends when the loop comes back for the next batch. Left by
    ``break``, a step counts if it reported something. Where gradients are accumulated, ``Loop(..., accumulation=4)`` makes one step of
    four (micro-)batches, and the loop asks when to update::

        for batch in loop.steps():
            ...                                             # forward and backward
            if loop.update_due:                             # every fourth batch, and the last one of the data
                optimizer.step()

    With ``with``, an exception closes all callbacks and gives ``status``
    FAILED (an error) or INTERRUPTED (Ctrl-C, ``sys.exit()``); it is never swallowed. Without ``with`` the loop works too:
    when ``epochs()`` (or a ``steps()`` without epochs) is through, the run ends; where it is left early, nobody can tell an
    error from a ``break``: the callbacks' ``end`` is called and the status is INTERRUPTED.

    A loop may run again, and callbacks may be used by several loops, one after the other.
    """

    def __init__(
        self,
        model: Any = None,
        optimizer: Any = None,
        train_dataset: Iterable[Any] | None = None,
        epochs: int = 1,
        callbacks: Callback | Iterable[Callback] | None = (),
        *,
        network: Any = None,
        loss_fn: Any = None,
        accumulation: int = 1,
        initial_epoch: int = 0,
        initial_step: int = 0,
    ) -> None:
        """Describe a training. Nothing is imported, called or changed of what is given; callbacks look at it.

        Args:
            model: what is trained: a torch module, a MindSpore cell, a Keras model, a mapping of arrays …
            optimizer: what updates it; its learning rate is looked up.
            train_dataset: gives the batches: any iterable. An iterator serves one epoch only.
            epochs: the epoch number to reach, ≥ 0.
            callbacks: one or several.
            network: the bare network, where ``model`` wraps it (data-parallel, compiled …).
            loss_fn: the loss function.
            accumulation: (micro-)batches of one optimizer update, ≥ 1; what is left at the end of the data is an update, too. To know
                the end, the batch after the current one is fetched early. Of a name that several of them report the last value counts.
            initial_epoch: epochs done by an earlier run that this one continues.
            initial_step: optimizer updates done by that run.

        Raises:
            TypeError, ValueError: a count is no integer or negative, a callback is none.
        """
        self._epochs = check_integer("epochs", epochs, 0)
        self._accumulation = check_integer("accumulation", accumulation, 1)
        self._initial_epoch = check_integer("initial_epoch", initial_epoch, 0)
        self._initial_step = check_integer("initial_step", initial_step, 0)
        self._dataset = train_dataset
        self._callbacks = CallbackList(callbacks)
        self._given = {
            "network": model if network is None else network,
            "train_network": model,
            "optimizer": optimizer,
            "loss_fn": loss_fn,
            "train_dataset": train_dataset,
        }
        self._context = RunContext({})
        self._phase: Phase | None = None
        self._run: AbstractContextManager[None] = nullcontext()
        self._notices = Notices()

    @property
    def status(self) -> Status | None:
        """RUNNING, FINISHED, FAILED or INTERRUPTED; None before the first run."""
        return self._context.original_args().get("status")

    @property
    def step(self) -> int:
        """Optimizer updates completed; in the body of a step the number of that step."""
        params = self._context.original_args()
        return int(params.get("train_step_num", params.get("cur_step_num", self._initial_step)))

    @property
    def update_due(self) -> bool:
        """True in the body of a step's last (micro-)batch: now the optimizer is to update."""
        return isinstance(self._phase, Training) and self._phase.in_step and self._phase.update_due

    def __enter__(self) -> Loop:
        if self._phase is not None:
            raise RuntimeError("this Loop is already running")
        self._run = self._training()
        self._run.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._run.__exit__(kind, error, trace)

    def epochs(self) -> Iterator[int]:
        """Give the numbers of the epochs, from 1 (``initial_epoch`` + 1) on, until all are done or a stop is requested."""
        with self._running() as training:
            while training.epoch < self._epochs and not self._context.get_stop_requested():
                training.begin_epoch()
                yield training.epoch
                training.end_epoch()

    def steps(self, dataset: Iterable[Any] | None = None) -> Iterator[Any]:
        """Give the batches, each as one step, until there are no more or a stop is requested.

        Args:
            dataset: where they come from; by default ``train_dataset``, in an evaluation what that was given.

        Without ``epochs()`` around it, it is an epoch of its own. Several of them in one epoch are counted on.

        Raises:
            ValueError: there is no data set.
            TypeError: it cannot be iterated.
        """
        with nullcontext() if self._phase else self._running():
            phase = self._phase
            assert phase is not None
            batches = self._batches(phase, dataset)
            alone = not phase.in_epoch
            if alone:
                phase.begin_epoch()
            before = phase.done
            yield from phase.steps(batches)
            if phase.done == before:
                self._notices.once("no batch", "steps(): the data set gave no batch; an iterator or generator serves one epoch only")
            if alone:
                phase.end_epoch()

    @contextmanager
    def evaluation(self, dataset: Iterable[Any] | None = None) -> Iterator[None]:
        """Mark a block as an evaluation: what ``steps()`` and ``report()`` do in it is never taken for training.

        Args:
            dataset: what ``steps()`` goes through; not needed where the block does not call it.

        Outside a run it is an evaluation on its own.

        Raises:
            RuntimeError: inside another evaluation.
        """
        if isinstance(self._phase, Evaluation):
            raise RuntimeError("evaluation() inside an evaluation")
        if isinstance(self._phase, Training):
            self._phase.catch_up()
        else:
            self._context = RunContext(self._fields())
        context = RunContext(self._context.original_args())  # a stop requested of the training does not cut the evaluation short
        with self._current(evaluation := Evaluation(context, self._callbacks, dataset)), evaluation.run():
            yield

    def report(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Hand over values by name: numbers, arrays and tensors of any framework, nested mappings of them.

        They are held as they are, and looked at only where something collects this step, after it: so leave them unchanged
        until then. What is reported between the steps belongs to the epoch, what is reported in an evaluation to that
        evaluation; of one name the last value counts.

        Raises:
            TypeError: ``values`` is no mapping.
        """
        if self._phase is None:
            self._notices.once("report", "report() outside a run: nothing records this")
            return
        if values is not None:
            if not isinstance(values, Mapping):
                raise TypeError(f"report(): a mapping of names to values is needed, got {values!r}")
            self._phase.report(values)
        self._phase.report(named)

    def request_stop(self) -> None:
        """End the run after the current step and epoch."""
        self._context.request_stop()

    @contextmanager
    def _training(self) -> Iterator[None]:
        self._context = RunContext(self._fields())
        done = self._initial_step, self._initial_epoch
        training = Training(self._context, self._callbacks, self._dataset, *done, self._accumulation)
        with self._current(training), training.run():
            yield

    @contextmanager
    def _running(self) -> Iterator[Training]:
        """What opens the run ends it: ``with``, or else the outermost generator."""
        with nullcontext() if self._phase else self:
            if not isinstance(self._phase, Training):
                raise RuntimeError("epochs() inside an evaluation")
            yield self._phase

    @contextmanager
    def _current(self, phase: Phase) -> Iterator[Phase]:
        before, self._phase = self._phase, phase
        try:
            yield phase
        finally:
            self._phase = before

    def _batches(self, phase: Phase, dataset: Iterable[Any] | None) -> Iterable[Any]:
        if dataset is not None:
            self._context.original_args()["batch_num"] = self._updates(dataset) if isinstance(phase, Training) else length(dataset)
            return iterable("steps()", dataset)
        if phase.dataset is None:
            raise ValueError("steps(): no data set: give Loop(train_dataset=...), evaluation(dataset) or steps(dataset)")
        return iterable("steps()", phase.dataset)

    def _updates(self, dataset: Any) -> int | None:
        batches = length(dataset)
        return None if batches is None else -(-batches // self._accumulation)

    def _fields(self) -> CallbackParams:
        here = detect()
        return CallbackParams(
            self._given,
            mode="train",
            epoch_num=max(0, self._epochs - self._initial_epoch),
            cur_step_num=self._initial_step,
            batch_num=self._updates(self._dataset),
            train_dataset_element=None,
            list_callback=list(self._callbacks),
            dataset_sink_mode=False,
            parallel_mode="stand_alone" if here.world_size == 1 else "data_parallel",
            device_number=here.world_size,
            last_save_ckpt_step=None,
            latest_ckpt_file=None,
            initial_step=self._initial_step,
        )
