"""Our callbacks as callbacks of a framework: same name, same arguments, its base class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from summarykit.training.callback import Callback


def adapted(ours: type[Callback], base: type[Any]) -> Any:
    """Make the class.

    Args:
        ours: one of our callbacks, such as ``summarykit.SummaryCollector``. Its own public methods (``stats()`` …) are there too.
        base: the framework's base class with the hooks translated; it is constructed with the callbacks to run.

    Returns:
        A class named as ours in the module of ``base``, where it must be bound to that name, so that it can be pickled.
    """
    methods = {name: _forwarded(ours, name) for name in _own_methods(ours) - set(dir(base))}
    about = {"__doc__": ours.__doc__, "__module__": base.__module__}
    return type(ours.__name__, (base,), {"__init__": _constructor(ours, base), **methods, **about})


def _constructor(ours: type[Callback], base: type[Any]) -> Callable[..., None]:
    @functools.wraps(ours.__init__)
    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        """Make our callback, and the framework's part around it."""
        self.callback = ours(*args, **kwargs)
        base.__init__(self, self.callback)

    return construct


def _own_methods(ours: type[Callback]) -> set[str]:
    own = {name for name in dir(ours) if not name.startswith("_")} - set(dir(Callback))
    return {name for name in own if callable(getattr(ours, name)) and not name.startswith("on_")}


def _forwarded(ours: type[Callback], name: str) -> Callable[..., Any]:
    @functools.wraps(getattr(ours, name))
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        """What our callback does."""
        return getattr(self.callback, name)(*args, **kwargs)

    return method
