"""Symbolic tracing of a model of PyTorch in one thread: meanwhile others call modules as ever.

``torch.fx`` puts a method of its own in the place of each module's call. It would take what other threads call for parts of the model.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any


def traced(model: Any) -> Any:
    """Give the model as a graph, as ``torch.fx.symbolic_trace`` does.

    Raises:
        Exception: its code asks for what a symbol has not.
    """
    tracer = _tracer()()
    graph = tracer.trace(model)
    return sys.modules["torch"].fx.GraphModule(tracer.root, graph, type(model).__name__)


def _tracer() -> Any:
    base = sys.modules["torch"].fx.Tracer

    class OneThread(base):    # type: ignore[misc, valid-type]  # a class of torch, which is not imported here
        """Traces what the thread calls that made it."""

        def __init__(self) -> None:
            super().__init__()
            self._thread = threading.get_ident()

        def call_module(self, module: Any, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
            """Call a module, or note that it is called."""
            if threading.get_ident() != self._thread:
                return forward(*args, **kwargs)
            return super().call_module(module, forward, args, kwargs)

        def getattr(self, name: str, value: Any, known: dict[str, Any]) -> Any:
            """What a module has by a name: a parameter is noted."""
            return super().getattr(name, value, known) if threading.get_ident() == self._thread else value

    return OneThread
