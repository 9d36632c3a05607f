"""Which way a value takes: gathered as it is, through a compiled graph, or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from summarykit.lazy import loaded
from summarykit.notices import logger
from summarykit.ops import jax_traced, torch_compiled
from summarykit.ops.current import gather

Route = Callable[[str, str, Any, str], None]

_ROUTES: dict[type, Route] = {}
# Stand-ins for values, of code that traces a model to draw or export it.
_SYMBOLS = ("torch.fx", "torch._subclasses")


def _never() -> bool:
    return False


def _ignored(kind: str, tag: str, value: Any, dataformat: str) -> None:
    """A symbol has no values."""


compiling: Callable[[], bool] = _never    # torch.compile sees through its own function, and takes what it says for a constant
_in_graph: Route = _ignored


def prepare() -> None:
    """Look which frameworks are there; called before steps are collected, and never from code that is being compiled."""
    global compiling, _in_graph
    torch: Any = sys.modules.get("torch")
    if not hasattr(getattr(torch, "compiler", None), "is_dynamo_compiling") or compiling is not _never:    # since 2.2
        return
    compiling = torch.compiler.is_dynamo_compiling
    try:
        torch_compiled.library()
        _in_graph = torch_compiled.give
    except Exception as error:  # noqa: BLE001 - it may be within somebody's import
        logger.warning("summary operators inside torch.compile are not recorded with torch %s: %s", torch.__version__, error)


class _Foreseeing:
    """Among the finders of imports: PyTorch imports its compiler when it is first asked to compile, and before that all is prepared."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        """Find nothing."""
        if name == "torch._dynamo":
            prepare()


sys.meta_path.insert(0, _Foreseeing)


def give(kind: str, tag: str, value: Any, dataformat: str) -> None:
    """Send a value on its way."""
    if compiling():
        _in_graph(kind, tag, value, dataformat)
        return
    route = _ROUTES.get(value.__class__) or _route(value.__class__)
    route(kind, tag, value, dataformat)


def _route(kind: type) -> Route:
    _ROUTES[kind] = _find(kind)
    return _ROUTES[kind]


def _find(kind: type) -> Route:
    if issubclass(kind, loaded("jax.core", "Tracer")):
        return jax_traced.give
    return _ignored if kind.__module__.startswith(_SYMBOLS) else gather
