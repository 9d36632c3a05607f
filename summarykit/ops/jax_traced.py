"""Operators inside ``jax.jit``: a callback in the compiled function, which looks at run time whether its step is collected.

Under a condition the callback is made only where that holds: the function itself looks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from summarykit.ops.current import gather, on_settling

_condition: ContextVar[Any] = ContextVar("condition", default=True)


@contextmanager
def when(condition: Any) -> Iterator[None]:
    """Operators that are traced in this block make their callbacks under this condition."""
    token = _condition.set(condition)
    try:
        yield
    finally:
        _condition.reset(token)


def give(kind: str, tag: str, value: Any, dataformat: str) -> None:
    """Put a callback into the function that is just being traced; none where it is known already that the condition does not hold."""
    on_settling(_settle)
    jax, condition = sys.modules["jax"], _condition.get()
    call = partial(jax.debug.callback, partial(_arrived, kind, tag, dataformat))
    if isinstance(condition, jax.core.Tracer):
        jax.lax.cond(condition, call, lambda _: None, value)
    elif condition:
        call(value)


def _arrived(kind: str, tag: str, dataformat: str, value: Any) -> None:
    gather(kind, tag, value, dataformat)


def _settle() -> None:
    """JAX runs ahead of Python: callbacks of the steps so far may still be under way."""
    sys.modules["jax"].effects_barrier()
