"""Modules of PyTorch as other objects: tracing calls a model's own code, which may count its calls or write them down."""

from __future__ import annotations

import sys
from typing import Any


def traced(model: Any) -> Any:
    """Trace a model symbolically, apart from it where that can be done.

    Raises:
        Exception: the model cannot be traced.
    """
    fx = sys.modules["torch"].fx
    try:
        return fx.symbolic_trace(apart(model, {}))
    except Exception:  # noqa: BLE001 - its code knows its modules in other ways, too: by a list, by a method bound to one
        return fx.symbolic_trace(model)


def apart(module: Any, known: dict[int, Any]) -> Any:
    """The same tree of other modules, which share parameters, buffers and whatever else is no number.

    Args:
        module: the root; one that is compiled TorchScript stays itself.
        known: modules that have been taken apart, by their ``id``: one that is there twice stays one.
    """
    if isinstance(module, sys.modules["torch"].jit.ScriptModule):
        return module
    if id(module) not in known:
        twin = known[id(module)] = object.__new__(type(module))
        twin.__dict__.update(module.__dict__)
        children = module._modules.items()
        twin.__dict__["_modules"] = {name: None if child is None else apart(child, known) for name, child in children}
        twin.__dict__["_buffers"] = dict(module._buffers)
    return known[id(module)]
