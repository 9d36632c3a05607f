"""Hugging Face Transformers: our callbacks in its ``Trainer``.

::

    from summarykit.integrations.transformers import SummaryCollector

    Trainer(model, args, train_dataset=samples, callbacks=[SummaryCollector("./summary")]).train()

or, after ``summarykit.integrations.transformers.register()``, by ``TrainingArguments(report_to="summarykit")``.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from transformers import TrainerCallback
from transformers.integrations import integration_utils

from summarykit import collectors
from summarykit.integrations.adapted import adapted
from summarykit.integrations.driver import Driver
from summarykit.integrations.torch import Hook
from summarykit.training.callback import Callback

__all__ = ["Callbacks", "SummaryCollector", "SummaryReport", "register"]

LEFT_OUT = ("learning_rate", "epoch")


class Callbacks(TrainerCallback):
    """Any of our callbacks in the Trainer of Transformers.

    Recorded besides what the callbacks look at themselves is what the Trainer logs, whenever it does, under its own names: so ``loss`` is
    the mean over ``logging_steps`` steps. (With ``logging_nan_inf_filter``, its default, the Trainer puts an average in the place of a
    loss that is NaN or infinite.) Metrics of evaluations become ``eval/<name>``, without the Trainer's own prefix, those of predictions
    ``eval/test_<name>``. Left out are ``learning_rate``, which the collector sees itself, and ``epoch``, which comes with everything.
    The Trainer tells nobody when it fails: such a run is closed when the next begins or the program ends.
    """

    def __init__(self, callbacks: Callback | Iterable[Callback] | None = ()) -> None:
        """Take the callbacks to run; see ``CallbackList`` for the errors."""
        self.driver = Driver(callbacks)
        self._inputs: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Training begins, or goes on from a checkpoint."""
        epoch = int(state.epoch or 0)
        self.driver.train_begin(
            initial_step=state.global_step,
            initial_epoch=epoch,
            epoch_num=math.ceil(state.num_train_epochs) - epoch if state.num_train_epochs < sys.maxsize else None,    # without a length
            batch_num=None,
            last_step_num=state.max_steps,
            loss_kind="window_mean",
            train_dataset=given.get("train_dataloader"),
            optimizer=given.get("optimizer"),
            hyper_parameters=_chosen(args),
            **_about(args, given),
        )

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """An epoch begins."""
        self.driver.epoch_begin()

    def on_step_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """The first batch of a step begins; what is in it is seen when the model is called, where a callback will look at it."""
        self.driver.step_begin()
        if self.driver.awake:
            self._look_away()    # from that of a training that failed
            self._inputs = given["model"].register_forward_pre_hook(Hook(self._look), with_kwargs=True)

    def on_substep_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """A micro-batch has ended and another one of the same step begins."""
        self.driver.step_begin()

    def on_optimizer_step(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """The update is done, the gradients are still there, the Trainer has not counted it yet."""
        self.driver.step_end(step=state.global_step + 1)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """A step has ended; older Trainers did not say so at the update."""
        self.driver.step_end(step=state.global_step)
        if self._inputs:
            self._look_away()
        if self.driver.stop_requested:
            control.should_training_stop = True

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **given: Any) -> None:
        """The Trainer logs; what it logs of an evaluation comes again, at its end."""
        if not self.driver.evaluating:
            self.driver.report({name: value for name, value in (logs or {}).items() if name not in LEFT_OUT})

    def on_prediction_step(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """A batch of an evaluation has ended: the first says that there is one."""
        self._evaluating(args, state, given)
        self.driver.eval_step_begin()
        self.driver.eval_step_end()

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Mapping[str, Any] | None = None, **given: Any) -> None:
        """An evaluation has ended."""
        self._evaluating(args, state, given)
        self.driver.eval_end({name.removeprefix("eval_"): value for name, value in (metrics or {}).items() if name not in LEFT_OUT})

    def on_predict(self, args: Any, state: Any, control: Any, metrics: Mapping[str, Any] | None = None, **given: Any) -> None:
        """A prediction has ended; it has metrics where there are labels."""
        self._evaluating(args, state, given)
        self.driver.eval_end(metrics)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """An epoch has ended; its evaluation is yet to come."""
        self.driver.epoch_end()

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Training is over."""
        self._look_away()
        self.driver.train_end()

    def _look(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if model.training and self.driver.in_step:
            self.driver.params["train_dataset_element"] = args or kwargs

    def _look_away(self) -> None:
        if self._inputs:
            self._inputs.remove()
            self._inputs = None

    def _evaluating(self, args: Any, state: Any, given: Mapping[str, Any]) -> None:
        alone = {} if self.driver.training else {"cur_step_num": state.global_step, **_about(args, given)}
        self.driver.eval_begin(given.get("eval_dataloader"), **alone)


SummaryCollector = adapted(collectors.SummaryCollector, Callbacks)


class SummaryReport(Callbacks):
    """What ``report_to="summarykit"`` stands for: a SummaryCollector whose directory the Trainer's arguments tell.

    It is ``summary`` in ``output_dir``, with the trial's name below where hyper-parameters are searched for; the environment variable
    ``SUMMARYKIT_DIR`` names another one.
    """

    def __init__(self) -> None:
        """Make it; the directory comes with the training."""
        super().__init__()

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """See ``Callbacks``."""
        self._choose(args, state)
        super().on_train_begin(args, state, control, **given)

    def _evaluating(self, args: Any, state: Any, given: Mapping[str, Any]) -> None:
        if not (self.driver.training or self.driver.evaluating):
            self._choose(args, state)
        super()._evaluating(args, state, given)

    def _choose(self, args: Any, state: Any) -> None:
        directory = os.environ.get("SUMMARYKIT_DIR") or os.path.join(args.output_dir, "summary")
        self.driver.close()
        self.driver = Driver(collectors.SummaryCollector(os.path.join(directory, state.trial_name or "")))


def register() -> None:
    """Make ``TrainingArguments(report_to="summarykit")`` known; call it before the Trainer is made."""
    integration_utils.INTEGRATION_TO_CALLBACK["summarykit"] = SummaryReport


def _chosen(args: Any) -> dict[str, Any]:
    """The numbers and texts among the arguments that are not the Trainer's defaults."""
    given = {one.name: getattr(args, one.name) for one in fields(args) if one.init}
    defaults = {one.name: one.default for one in fields(args)}
    return {name: value for name, value in given.items() if isinstance(value, (int, float, str)) and value != defaults[name]}


def _about(args: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that training and evaluation have in common."""
    return {"network": given.get("model"), "framework": "transformers", "rank": args.process_index, "device_number": args.world_size}
