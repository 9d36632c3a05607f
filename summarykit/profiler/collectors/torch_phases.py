"""Forward, backward, optimizer and transfer of PyTorch, without a line in the user's loop."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from summarykit.profiler.collectors.instrument import Hooked, Instrument
from summarykit.profiler.collectors.optimizer_hooks import OptimizerHooks
from summarykit.profiler.phases import BACKWARD, FORWARD, OPTIMIZER, TRANSFER

ROUNDS = 2
"""After so many optimizer steps the outermost modules are known, and only they are watched."""


class TorchInstrument(Instrument):
    """Hooks of modules and optimizers, and wraps of ``torch.autograd.backward``, ``grad`` and ``Tensor.to``.

    Which modules are called by the loop itself is seen in the first steps by hooks of all modules, which cost each call about a
    microsecond; then these are taken away. Where ``torch.compile`` is at work modules get none: it would compile them in.

    Attributes:
        parameters: how many numbers of each dtype the outermost modules have.
    """

    def __init__(self) -> None:
        super().__init__()
        self._optimizers = OptimizerHooks(self._before_step, self._after_step)
        self._handles: list[Any] = []
        self._global: list[Any] = []
        self._outermost: dict[int, Any] = {}
        self.parameters: Counter[str] = Counter()
        self._depth = self._begun = self._optimizer_begun = self._rounds = 0

    def install(self) -> None:
        """See ``Instrument``."""
        torch = sys.modules["torch"]
        self._depth = self._rounds = self._optimizer_begun = 0
        self.parameters = Counter()
        self.patches.replace(torch.autograd, "backward", self.timed(BACKWARD))
        self.patches.replace(torch.autograd, "grad", self.timed(BACKWARD))
        self.patches.replace(torch.optim.Optimizer, "zero_grad", self.timed(OPTIMIZER))
        for name in ("to", "cuda"):
            self.patches.replace(torch.Tensor, name, self._moved)
        self._optimizers.install()
        if not compiles():
            module = sys.modules["torch.nn.modules.module"]
            self._global = [
                module.register_module_forward_pre_hook(self._enter),
                module.register_module_forward_hook(self._leave, always_call=True),
            ]

    def remove(self) -> None:
        """See ``Instrument``."""
        super().remove()
        self._optimizers.remove()
        for handle in (*self._handles, *self._global):
            handle.remove()
        self._handles, self._global, self._outermost = [], [], {}

    def _before_step(self) -> None:
        self._optimizer_begun = perf_counter_ns()

    def _after_step(self) -> None:
        if not self._optimizer_begun:    # the window was opened in the middle of it
            return
        self.span((OPTIMIZER, get_ident(), self._optimizer_begun, perf_counter_ns()))
        if self._global:
            self._rounds += 1
            if self._rounds >= ROUNDS:
                self._settle()

    def _settle(self) -> None:
        """From here on only the modules that the loop calls itself are watched."""
        for handle in self._global:
            handle.remove()
        self._global, self._depth = [], 0
        for module in self._outermost.values():
            for parameter in module.parameters():
                self.parameters[str(parameter.dtype)] += parameter.numel()
            self._handles += [
                module.register_forward_pre_hook(self._enter),
                module.register_forward_hook(self._leave, always_call=True),
            ]

    def _enter(self, module: Any, _: Any) -> None:
        if not self._depth:
            self._begun = perf_counter_ns()
            if self._global:
                self._outermost[id(module)] = module
        self._depth += 1

    def _leave(self, *_: Any) -> None:
        self._depth = max(0, self._depth - 1)
        if not self._depth:
            self.span((FORWARD, get_ident(), self._begun, perf_counter_ns()))

    def _moved(self, original: Any) -> Any:
        """``Tensor.to`` and ``Tensor.cuda``: a transfer where the device is another one afterwards."""

        @functools.wraps(original)
        def move(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            """Move a tensor; measured where it went to another device."""
            begun = perf_counter_ns()
            moved = original(tensor, *args, **kwargs)
            if moved.device != tensor.device:
                self.span((TRANSFER, get_ident(), begun, perf_counter_ns()))
            return moved

        return move


def compiles() -> bool:
    """Whether ``torch.compile`` has compiled something in this process."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", {})
    return bool(counters.get("frames"))


class TorchPhases(Hooked):
    """Phases of a step of PyTorch, as the host sees them: on an accelerator they end when the work is queued."""

    key = "torch"
    instrument = TorchInstrument()

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return "torch.optim.optimizer" in sys.modules

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"parameters": dict(self.instrument.parameters)}
