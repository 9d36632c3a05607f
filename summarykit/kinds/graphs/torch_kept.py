"""A model of PyTorch stays as it is while it is traced: that calls its own code, which may count its calls, or keep what came.

What is kept like that would be a symbol, of which the next step can make nothing; and each random number that is drawn is missing later.
"""

from __future__ import annotations

import random
import sys
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError

LARGEST = 2**28
"""Bytes that are copied of buffers and other arrays, at most."""

_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_TORCH = "torch.nn.utils"    # whose hooks, of pruning and norms, make the weights


@contextmanager
def kept(model: Any) -> Iterator[None]:
    """In this block the modules of a model have copies of what their code may change, and no hooks of others; afterwards what was before.

    Parameters are their own all the time: a tracer sees them for itself.

    Raises:
        RefusedValueError: too much would be copied.
    """
    scripted = sys.modules["torch"].jit.ScriptModule
    before = [(module, dict(vars(module))) for module in model.modules() if not isinstance(module, scripted)]
    copies = _Copies()
    changed = [copies.of_module(module) for module, _ in before]
    try:
        for (module, _), fields in zip(before, changed, strict=True):
            vars(module).update(fields)
        yield
    finally:
        for module, fields in before:
            for name in vars(module).keys() - fields.keys():
                del vars(module)[name]
            vars(module).update(fields)


class _Copies:
    """Copies of what modules hold; what two of them hold is one copy."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}
        self._nbytes = 0

    def of_module(self, module: Any) -> dict[str, Any]:
        """What is copied of a module; a tracer does not look into those of PyTorch itself, whose arrays may be large."""
        arrays = not type(module).__module__.startswith("torch.nn")
        fields = vars(module).items()
        return {name: _own(value) if name in _HOOKS else self._of(value, arrays) for name, value in fields if name != "_parameters"}

    def _of(self, value: Any, arrays: bool) -> Any:
        if id(value) not in self._known:
            self._known[id(value)] = value    # for a list that holds itself
            self._known[id(value)] = self._copied(value, arrays)
        return self._known[id(value)]

    def _copied(self, value: Any, arrays: bool) -> Any:
        torch: Any = sys.modules["torch"]
        kind = type(value)
        if kind in (dict, OrderedDict):
            return kind((name, self._of(each, arrays)) for name, each in value.items())
        if kind in (list, tuple, set):
            return kind([self._of(each, arrays) for each in value])
        if not arrays or isinstance(value, torch.nn.Parameter) or not isinstance(value, (torch.Tensor, np.ndarray)):
            return value
        self._nbytes += _nbytes(value)
        if self._nbytes > LARGEST:
            raise RefusedValueError("its buffers are too large to be copied")
        return value.copy() if isinstance(value, np.ndarray) else value.detach().clone()


def _own(hooks: Any) -> Any:
    return type(hooks)((number, hook) for number, hook in hooks.items() if type(hook).__module__.startswith(_TORCH))


def _nbytes(array: Any) -> int:
    sparse = getattr(array, "layout", None) is sys.modules["torch"].sparse_coo
    return sum(each.nbytes for each in ((array._indices(), array._values()) if sparse else (array,)))


@contextmanager
def same_randomness(model: Any) -> Iterator[None]:
    """After this block the next random numbers are those that would have come without it: of Python, NumPy and PyTorch."""
    devices = {parameter.device for parameter in model.parameters() if parameter.device.type == "cuda"}
    ours, theirs = random.getstate(), np.random.get_state()
    with sys.modules["torch"].random.fork_rng(devices):
        try:
            yield
        finally:
            random.setstate(ours)
            np.random.set_state(theirs)
