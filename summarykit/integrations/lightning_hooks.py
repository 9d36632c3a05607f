"""What Lightning's two packages share: its hooks as our events. Nothing of Lightning is imported here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from summarykit.integrations.driver import Driver
from summarykit.training.callback import Callback

LIGHTNING = ("lightning.pytorch.callbacks.callback", "pytorch_lightning.callbacks.callback")
"""Where hooks that do nothing come from."""
IDLE = ("on_before_zero_grad", "on_before_backward", "on_after_backward", "on_before_optimizer_step")
"""Hooks of every step that are not needed here. Lightning takes 3 to 5 µs to call one that does nothing."""


class Hooks:
    """Any of our callbacks in Lightning's ``Trainer``; comes before Lightning's ``Callback`` among the bases.

    Recorded are the loss that ``training_step`` gives (``loss``, of one micro-batch, not divided by their number) and all that
    ``self.log`` is given: under its own name in training, at the end of an epoch with Lightning's ``_epoch``, as ``eval/<name>`` in
    validations and tests. The sanity check before the training is left out.
    """

    def __init__(self, callbacks: Callback | Iterable[Callback] | None = ()) -> None:
        """Take the callbacks to run; see ``CallbackList`` for the errors."""
        super().__init__()
        self.driver = Driver(callbacks)
        self._seen: dict[str, Any] = {}

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Training begins, or goes on from a checkpoint."""
        if any(callback is self for callback in trainer.callbacks):    # else a callback of the user's calls this one, and all its hooks
            self._put_away()
        self._seen = dict(trainer.callback_metrics)
        epoch = trainer.current_epoch
        self.driver.train_begin(
            initial_step=trainer.global_step,
            initial_epoch=epoch,
            epoch_num=None if trainer.max_epochs in (None, -1) else trainer.max_epochs - epoch,
            batch_num=_steps_per_epoch(trainer),
            last_step_num=_finite(trainer.estimated_stepping_batches),
            train_dataset=trainer.train_dataloader,
            optimizer=trainer.optimizers[0] if len(trainer.optimizers) == 1 else list(trainer.optimizers),
            hyper_parameters=dict(getattr(pl_module, "hparams", {})),
            **_about(trainer, pl_module),
        )

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """An epoch begins."""
        self._seen = dict(trainer.callback_metrics)    # the last epoch's were computed once more
        self.driver.epoch_begin()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """A batch begins."""
        self.driver.step_begin(batch)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """A batch has ended, and a step, if the optimizer made one."""
        self.driver.step_end(_loss(outputs, trainer.accumulate_grad_batches), step=trainer.global_step, more=lambda: self._fresh(trainer))
        if self.driver.stop_requested:
            trainer.should_stop = True

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """An epoch has ended, and the validations in it."""
        fresh = self._fresh(trainer)
        # of what is logged by step and by epoch, the name without suffix now holds the epoch's value
        values = {name: value for name, value in fresh.items() if f"{name}_epoch" not in fresh}
        if "loss" in values:
            values["loss_epoch"] = values.pop("loss")
        self.driver.epoch_end(values)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """A validation begins."""
        self._evaluation_begins(trainer, pl_module, trainer.val_dataloaders)

    def on_validation_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
        """A batch of a validation begins."""
        self.driver.eval_step_begin(batch)

    def on_validation_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """A batch of a validation has ended."""
        self.driver.eval_step_end()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """A validation has ended; Lightning has its metrics."""
        if not trainer.sanity_checking:
            self.driver.eval_end(self._fresh(trainer))

    def on_test_start(self, trainer: Any, pl_module: Any) -> None:
        """A test begins."""
        self._evaluation_begins(trainer, pl_module, trainer.test_dataloaders)

    on_test_batch_start, on_test_batch_end, on_test_end = on_validation_batch_start, on_validation_batch_end, on_validation_end

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Training is over."""
        self.driver.train_end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """An exception, Ctrl-C among them, ended what was going on."""
        self.driver.failed(exception)

    def _put_away(self) -> None:
        """Keep Lightning from calling what does nothing: it leaves out hooks that are no functions. Others are left alone."""
        for name in IDLE:
            if getattr(getattr(self, name), "__module__", None) in LIGHTNING:
                setattr(self, name, None)

    def _evaluation_begins(self, trainer: Any, pl_module: Any, dataset: Any) -> None:
        if trainer.sanity_checking:
            return
        self._seen = dict(trainer.callback_metrics)
        alone = {} if self.driver.training else {"cur_step_num": trainer.global_step, **_about(trainer, pl_module)}
        self.driver.eval_begin(dataset, **alone)

    def _fresh(self, trainer: Any) -> Mapping[str, Any]:
        """What was logged since this was last asked: Lightning keeps the values of earlier steps, epochs and evaluations among the new."""
        now = dict(trainer.callback_metrics)
        fresh = {name: value for name, value in now.items() if not _same(value, self._seen.get(name))}
        self._seen = now
        return {name: value for name, value in fresh.items() if name.removesuffix("_step") not in fresh.keys() - {name}}


def _same(value: Any, seen: Any) -> bool:
    """Whether two tensors are views of the same memory, which Lightning makes anew for every value that is logged."""
    return seen is not None and value.data_ptr() == seen.data_ptr()


def _about(trainer: Any, pl_module: Any) -> dict[str, Any]:
    """Fields that training and evaluation have in common."""
    return {"network": pl_module, "framework": "lightning", "rank": trainer.global_rank, "device_number": trainer.world_size}


def _loss(outputs: Any, accumulated: int) -> dict[str, Any]:
    """The loss of one micro-batch: what Lightning hands over is divided by their number."""
    loss = outputs.get("loss") if isinstance(outputs, (dict, Mapping)) else outputs    # a dict is told without asking Mapping
    if loss is None:
        return {}
    if loss.requires_grad:    # where the module optimizes by itself, a graph hangs on it
        loss = loss.detach()
    return {"loss": loss * accumulated if accumulated > 1 else loss}


def _steps_per_epoch(trainer: Any) -> int | None:
    batches = _finite(trainer.num_training_batches)
    return None if batches is None else math.ceil(batches / trainer.accumulate_grad_batches)


def _finite(count: float) -> int | None:
    return None if count == math.inf else int(count)
