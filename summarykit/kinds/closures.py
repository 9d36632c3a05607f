"""The closure that an optimizer's step may be given: the forward and backward pass, which the step calls before it updates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from types import FunctionType, MethodType
from typing import Any

_FUNCTIONS = (FunctionType, MethodType, partial)


def begins_with_closure(optimizer: Any) -> bool:
    """PyTorch's own do; others may move the parameters before they call it, or be given something else."""
    return str(getattr(type(optimizer).step, "__module__", "")).startswith("torch.optim.")


def is_closure(given: Any) -> bool:
    """Whether what an optimizer of others is given as its closure is one: a model can be called, too."""
    return isinstance(given, _FUNCTIONS)


def followed(closure: Callable[..., Any], passed: Callable[[], None]) -> Callable[..., Any]:
    """Make a closure behind which, however it ends, that is called, too."""

    @wraps(closure)
    def both(*args: Any, **kwargs: Any) -> Any:
        """What was given, and then the rest."""
        try:
            return closure(*args, **kwargs)
        finally:
            passed()

    return both
