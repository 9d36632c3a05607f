"""Keras 3, on whatever backend: our callbacks for ``Model.fit`` and ``evaluate``.

::

    from summarykit.integrations.keras import SummaryCollector

    model.fit(images, labels, epochs=3, callbacks=[SummaryCollector("./summary")])

Keras hands its callbacks the running means of the loss and the metrics, no batches, and gradients on PyTorch only. The values of an
epoch are recorded as ``<name>_epoch``, those of an evaluation as ``eval/<name>``. As with every Keras callback that looks at batches,
Keras brings their values to the host after each one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import keras

from summarykit import collectors
from summarykit.integrations.adapted import adapted
from summarykit.integrations.driver import Driver
from summarykit.integrations.keras_state import look_alikes
from summarykit.integrations.keras_updates import Updates
from summarykit.training import Callback

__all__ = ["Callbacks", "SummaryCollector"]


class Callbacks(keras.callbacks.Callback):
    """Callbacks of this library as one of Keras': ``callbacks=[Callbacks(StopAtStep(5, 8))]``.

    A step is an update: with ``gradient_accumulation_steps`` one in so many batches, with ``steps_per_execution`` several at once. A
    ``fit`` that goes on with a trained model counts on from its ``optimizer.iterations``. Keras does not tell its callbacks of
    exceptions: a run that one ends is closed by the next ``fit``, or when the program ends.
    """

    def __init__(self, callbacks: Callback | Iterable[Callback]) -> None:
        """Take one callback or several; see `CallbackList` for the errors."""
        super().__init__()
        self.driver = Driver(callbacks)
        self._watching = Updates()
        self._batches = 0
        self._batches_before_epoch = 0
        self._per_update = 1

    def on_train_begin(self, logs: Any = None) -> None:
        """Not told yet: only the first epoch knows whether this training continues another; but an earlier one is over."""
        self.driver.close()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """An epoch begins, the first one with the training."""
        if not self.driver.training:
            self._begin(epoch)
        elif (done := self._updates(counted := self._batches // self._per_update)) != counted:    # a train_step() of the user's own
            self._batches = done * self._per_update
        self._batches_before_epoch = self._batches
        self.driver.epoch_begin()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """A batch begins."""
        self.driver.step_begin()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """A batch has ended, or the last of those of one execution."""
        # The last execution of an epoch may hold fewer batches than its number says.
        steps = self._told("steps")
        self._batches = self._batches_before_epoch + min(batch + 1, steps or batch + 1)
        self.driver.step_end(logs, step=self._batches // self._per_update)
        self._watching.settle(batch, steps)
        if self.driver.stop_requested:
            self._model.stop_training = True

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """An epoch has ended; its evaluation was told before."""
        own = {name: value for name, value in (logs or {}).items() if not name.startswith("val_") and name != "learning_rate"}
        self.driver.epoch_end({f"{name}_epoch": value for name, value in own.items()})

    def on_train_end(self, logs: Any = None) -> None:
        """Training has ended well."""
        self._watching.leave()
        self.driver.train_end()

    def on_test_begin(self, logs: Any = None) -> None:
        """An evaluation begins, in a training or on its own."""
        alone = {} if self.driver.training else {**self._about(), "cur_step_num": self._updates()}
        self.driver.eval_begin(**alone)

    def on_test_end(self, logs: Any = None) -> None:
        """The evaluation has ended."""
        self.driver.eval_end(logs)

    def _begin(self, epoch: int) -> None:
        self._watching.watch(self.model)
        optimizer = getattr(self.model, "optimizer", None)
        self._per_update = getattr(optimizer, "gradient_accumulation_steps", None) or 1
        done = self._updates()
        self._batches = done * self._per_update
        epochs, batches = max(0, (self._told("epochs") or 0) - epoch), self._told("steps")
        self.driver.train_begin(
            initial_step=done, initial_epoch=epoch, epoch_num=epochs or None, loss_kind="running_mean",
            batch_num=None if batches is None else batches // self._per_update,
            last_step_num=done + epochs * batches // self._per_update if epochs and batches else None, **self._about(),
        )  # fmt: skip

    def _told(self, name: str) -> int | None:
        """What ``fit`` says of its length; None where it does not know, and in a loop that is not Keras' own."""
        return (self.params or {}).get(name)

    def _updates(self, counted: int = 0) -> int:
        """Updates that the model's optimizer has done; where it has none, those counted."""
        iterations = getattr(getattr(self.model, "optimizer", None), "iterations", counted)
        return int(keras.ops.convert_to_numpy(iterations))

    def _about(self) -> Mapping[str, Any]:
        model = self.model
        optimizer = getattr(model, "optimizer", None)
        if keras.backend.backend() == "jax":
            model, optimizer = look_alikes(model, lambda: self.model)
        return {"network": model, "optimizer": optimizer, "loss_fn": getattr(self._model, "loss", None), "framework": "keras"}


SummaryCollector = adapted(collectors.SummaryCollector, Callbacks)
"""`summarykit.SummaryCollector` for ``fit`` and ``evaluate``: the same arguments, the same results."""
