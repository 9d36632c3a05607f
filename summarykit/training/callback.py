"""The base of all callbacks, with the hooks that MindSpore's have."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from summarykit.training.context import RunContext


class Callback:
    """Override the hooks you need; each is handed the same ``run_context``.

    Two families: ``on_train_*`` and ``on_eval_*`` tell training and evaluation apart; ``begin``, ``epoch_begin``,
    ``step_begin``, ``step_end``, ``epoch_end`` and ``end`` are called for both, by the defaults of the first family.
    A callback is a context manager: ``__enter__`` comes before ``on_train_begin`` (and again, nested, around every
    evaluation), ``__exit__`` comes whatever happens; the ``*_end`` hooks come only where no exception did.

    Example::

        class PrintLoss(Callback):
            def on_train_step_end(self, run_context):
                params = run_context.original_args()
                print(params.cur_step_num, params.net_outputs)
    """

    fail_safe: bool = False
    """True: an exception of a hook is logged once and the training goes on; the callbacks of this library say so."""

    if not TYPE_CHECKING:    # else every attribute would seem to be there

        def __getattr__(self, name: str) -> Any:
            """Say what is wrong to whom hands a callback to a framework, which looks for hooks of its own."""
            advice = " (frameworks take that of summarykit.integrations.<framework>)" if name.startswith("on_") else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{advice}")

    @property
    def wakes_at(self) -> int:
        """Until the step of this number it need not be called for steps: 0 where it wants every one.

        Of those in between only the last one's end is told, before the next call of any hook. Where a training has several callbacks and
        one of them wants every step, all are called.
        """
        return 0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Release what was acquired; the returned value is ignored: a callback cannot swallow the loop's exception."""

    def begin(self, run_context: RunContext) -> None:
        """Before a training or an evaluation."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before a step; ``cur_step_num`` is the one about to run."""

    def step_end(self, run_context: RunContext) -> None:
        """After a step."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After an epoch."""

    def end(self, run_context: RunContext) -> None:
        """After a training or an evaluation."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch of training."""
        self.epoch_begin(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Before a step of training; ``cur_step_num`` is the one about to run."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """After a step of training."""
        self.step_end(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """After an epoch of training and the evaluations in it."""
        self.epoch_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """After training, unless an exception ended it."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Before an evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Before the pass over the evaluation's data."""
        self.epoch_begin(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Before a batch of an evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """After a batch of an evaluation."""
        self.step_end(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """After the pass over the evaluation's data."""
        self.epoch_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """After an evaluation, unless an exception ended it."""
        self.end(run_context)


HOOKS = tuple(name for name in vars(Callback) if name.startswith("on_"))
