"""PyTorch: a loop that stays as it is, watched through the hooks that PyTorch has for optimizers.

::

    from summarykit.integrations.torch import SummaryCollector, watch

    with watch(model, optimizer, SummaryCollector("./summary"), loss=criterion):
        for images, labels in batches:
            optimizer.zero_grad()
            criterion(model(images), labels).backward()
            optimizer.step()
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from summarykit.collectors import SummaryCollector
from summarykit.integrations.driver import Driver, LeftOpenError
from summarykit.kinds.uncompiled import uncompiled
from summarykit.notices import logger
from summarykit.training.callback import Callback
from summarykit.training.callbacks import CallbackList

__all__ = ["SummaryCollector", "Watch", "watch"]

_UNSEEN = (
    "watch: the model was called, but no update by this %s was seen, so no step is recorded: give watch() the optimizer whose step() the "
    "loop calls; torch.compile must not hide that call"
)


class Watch:
    """Runs callbacks in a training loop that is not edited; a context manager.

    Without ``with``, it ends by ``close()``, with the program, or where another one is made with the same callbacks.

    A step begins with the model's first call in training mode after an update and ends with the optimizer's next update: so several
    calls make one step where gradients are accumulated, and calls in evaluation mode make none. An update that a ``GradScaler`` skips
    is no step. Where ``optimizer.step`` is itself compiled, PyTorch may leave its hooks out: then nothing is seen.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: Any,
        callbacks: Callback | Iterable[Callback],
        *,
        loss: torch.nn.Module | None = None,
        train_dataset: Any = None,
        initial_step: int = 0,
    ) -> None:
        """Begin to watch.

        Args:
            model: what is trained, as the loop calls it: wrapped (DistributedDataParallel, ``torch.compile``) or bare.
            optimizer: whose updates are the steps; one of PyTorch, or what wraps it (Accelerate).
            callbacks: one or several, such as ``SummaryCollector("./summary")``.
            loss: the loss module, where there is one: its output in training is recorded as ``loss``. Else ``report(loss=...)``.
            train_dataset: for those callbacks that look at it.
            initial_step: updates done before, by the run that this one continues.

        Raises:
            TypeError: ``model`` or ``loss`` is no module, ``optimizer`` has no ``param_groups``; what ``CallbackList`` raises.
        """
        self._callbacks = CallbackList(callbacks)
        self._driver = Driver(self._callbacks)
        self._optimizer = optimizer
        self._updated: Any = None    # the optimizer that ended the last step
        if not isinstance(getattr(optimizer, "param_groups", None), list):
            raise TypeError(f"optimizer: a torch.optim.Optimizer, or what wraps one, is needed, got {type(optimizer).__name__}")
        fields = {"network": bare(model), "train_network": model, "optimizer": optimizer, "loss_fn": loss, "train_dataset": train_dataset}
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"model: a torch.nn.Module is needed, got {type(model).__name__}")
        if loss is not None and not isinstance(loss, torch.nn.Module):
            raise TypeError(f"loss: a torch.nn.Module is needed; what another function gives is told by report(loss=...); got {loss!r}")
        self._take_over()
        with ExitStack() as hooks:    # before the training begins, which nobody would end where one of them is refused
            hooks.callback(_hooked(model).register_forward_pre_hook(model, Hook(self._forward), with_kwargs=True).remove)
            hooks.callback(register_optimizer_step_post_hook(uncompiled(self._after_update)).remove)
            if loss is not None:
                hooks.callback(_hooked(loss).register_forward_hook(loss, Hook(self._loss)).remove)
            self._driver.train_begin(initial_step=initial_step, framework="torch", ends_with_update=True, **fields)
            self._hooks = hooks.pop_all()
        _open.append(self)
        atexit.register(self._at_exit)

    @property
    def step(self) -> int:
        """Optimizer updates completed."""
        return self._driver.step

    @property
    def stop_requested(self) -> bool:
        """True once a callback asked for the end of the training; ending it is the loop's business."""
        return self._driver.stop_requested

    def report(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Hand over values by name, as they are: numbers, tensors, nested mappings of them.

        Before the optimizer's update they belong to the step and are recorded where it is collected; after it they are recorded in any
        case, at the step just completed.
        """
        self._driver.report({**values, **named} if values else named)

    @contextmanager
    def evaluation(self, dataset: Any = None) -> Iterator[None]:
        """Mark a block as an evaluation: what ``report`` is given in it are its metrics. One that an exception ends has none."""
        self._driver.eval_begin(dataset)
        try:
            yield
        except BaseException as error:
            self._driver.eval_failed(error)
            raise
        self._driver.eval_end()

    def close(self) -> None:
        """The training is over: take all hooks away and close the callbacks."""
        self._end()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end(error)

    def _take_over(self) -> None:
        """End what was begun with our callbacks and never ended, as when a notebook's cell is run again: they follow one training."""
        ours = {id(callback) for callback in self._callbacks}
        for other in _open[:]:
            if not ours.isdisjoint(map(id, other._callbacks)):
                other._end(LeftOpenError("its callbacks watch another training"))

    def _end(self, error: BaseException | None = None) -> None:
        atexit.unregister(self._at_exit)
        if self in _open:
            _open.remove(self)
        self._hooks.close()
        if error is None:
            if self._driver.in_step and self._updated is None:
                logger.warning(_UNSEEN, type(self._optimizer).__name__)
            self._driver.train_end()
        else:
            self._driver.failed(error)

    def _at_exit(self) -> None:
        self._end(getattr(sys, "last_value", None))    # an exception that ended the program ended the training too

    def _forward(self, model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if model.training:
            self._driver.step_begin(args or kwargs)

    def _loss(self, module: torch.nn.Module, args: tuple[Any, ...], output: Any) -> None:
        training = self._driver.current
        if training and training.in_step and torch.is_grad_enabled() and isinstance(output, torch.Tensor):
            self._driver.report({"loss": output.detach()})

    def _after_update(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        known, training = optimizer is self._updated, self._driver.current
        if not known and optimizer.param_groups is not self._optimizer.param_groups:    # they are the same where one only wraps the other
            return
        if training and not training.in_step:
            if not known and self._updated is not None:    # one that wraps it, and had it do the update
                return
            self._driver.step_begin()    # the model itself was not called, but parts of it
        if training and training.in_step:
            self._updated = optimizer
            training.end_step()


_open: list[Watch] = []

watch = Watch
"""By the name that reads well in a ``with``."""


class Hook:
    """A hook that does nothing in a copy of the module, in memory or in a file, and is no part of what ``torch.compile`` makes of it."""

    def __init__(self, call: Any = None) -> None:
        """Take what is called."""
        self._call = call

    def __call__(self, *args: Any) -> None:
        if not torch.compiler.is_compiling() and self._call:    # compiled in, each step would be compiled anew
            self._call(*args)

    def __reduce__(self) -> tuple[type[Hook], tuple[()]]:
        return Hook, ()


def _hooked(module: torch.nn.Module) -> Any:
    """The class whose methods put hooks on a module: TorchScript calls them as any other module does, but its own methods refuse them."""
    return torch.nn.Module if isinstance(module, torch.jit.ScriptModule) else type(module)


def bare(model: Any) -> Any:
    """The module inside DistributedDataParallel, DataParallel and ``torch.compile``."""
    while inner := next((getattr(model, name) for name in ("_orig_mod", "module") if _wraps(model, name)), None):
        model = inner
    return model


def _wraps(model: Any, name: str) -> bool:
    known = ("OptimizedModule", "DistributedDataParallel", "DataParallel", "FullyShardedDataParallel", "DeepSpeedEngine")
    return type(model).__name__ in known and isinstance(getattr(model, name, None), torch.nn.Module)
