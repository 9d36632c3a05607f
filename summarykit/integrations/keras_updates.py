"""Keras' optimizers on PyTorch are none of PyTorch's, and call no hooks. So that copies may wait, their updates are watched."""

from __future__ import annotations

from typing import Any

import keras

from summarykit.kinds.fence import FENCE


class Watched:
    """The method ``apply`` of an optimizer, by which all updates go; the fence is told first."""

    def __init__(self, optimizer: Any) -> None:
        """Take the optimizer as it is."""
        self._optimizer, self._apply = optimizer, optimizer.apply

    def __call__(self, grads: Any, trainable_variables: Any = None) -> Any:
        """Update, as the optimizer does."""
        if isinstance(trainable_variables, (list, tuple)):
            FENCE.before_update(self._optimizer, len(trainable_variables), (variable.value for variable in trainable_variables))
        else:    # who names none is not known; an iterator serves once
            FENCE.settle()
        return self._apply(grads, trainable_variables)


class Updates:
    """The updates of a training."""

    def __init__(self) -> None:
        """None is watched yet."""
        self._optimizer: Any = None

    def watch(self, model: Any) -> None:
        """Watch those of a model's optimizer, unless that is done, or compiled code makes them: it would be compiled anew."""
        self.leave()
        optimizer: Any = getattr(model, "optimizer", None)
        on_torch = keras.backend.backend() == "torch" and isinstance(optimizer, keras.optimizers.Optimizer)
        if on_torch and not model.jit_compile and "apply" not in vars(optimizer):
            self._optimizer, optimizer.apply = optimizer, Watched(optimizer)

    def leave(self) -> None:
        """Watch no longer."""
        if self._optimizer is not None:
            vars(self._optimizer).pop("apply", None)
            self._optimizer = None

    @staticmethod
    def settle(batch: int, steps: int | None) -> None:
        """Make the copies behind the last batch of an epoch, or what may be it: other weights may take the parameters' place there."""
        if steps is None or batch + 1 >= steps:
            FENCE.settle()
