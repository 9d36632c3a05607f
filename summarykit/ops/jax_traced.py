"""Operators inside ``jax.jit``: a callback in the compiled function, which looks at run time whether its step is collected.

Under a condition the callback is made only where that holds: the function itself looks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any, cast

from summarykit.lazy import loaded
from summarykit.ops.current import gather, on_settling

_condition: ContextVar[Any] = ContextVar("condition", default=True)
_keys: list[Any] = []


@contextmanager
def when(condition: Any) -> Iterator[None]:
    """Operators that are traced in this block make their callbacks under this condition, and those of the blocks around it."""
    condition = _both(_condition.get(), condition)
    token = _condition.set(condition)
    try:
        with _kept_for(condition):
            yield
    finally:
        _condition.reset(token)


def prepare() -> None:
    """Have JAX tell conditions apart: from then on it traces every function anew, so this is best done before the first step."""
    if make := None if _keys else getattr(sys.modules.get("jax"), "make_user_context", None):
        _keys.append(make(True))


def _kept_for(condition: Any) -> AbstractContextManager[Any]:
    """What JAX traces in this block it keeps for this condition only; of an array that is traced, for this trace only."""
    prepare()
    if not _keys:
        return nullcontext()
    return cast(AbstractContextManager[Any], _keys[0](object() if _traced(condition) else bool(condition)))


def _both(outer: Any, inner: Any) -> Any:
    """Whether two conditions hold, as far as that is known while the function is traced."""
    if _traced(outer) and _traced(inner):
        return sys.modules["jax"].numpy.logical_and(outer, inner)
    known, other = (inner, outer) if _traced(outer) else (outer, inner)
    return other if known else False


def _traced(condition: Any) -> bool:
    return isinstance(condition, loaded("jax.core", "Tracer"))


def give(kind: str, tag: str, value: Any, dataformat: str) -> None:
    """Put a callback into the function that is just being traced; none where it is known already that the condition does not hold."""
    on_settling(_settle)
    jax, condition = sys.modules["jax"], _condition.get()
    call = partial(jax.debug.callback, partial(_arrived, kind, tag, dataformat))
    if _traced(condition):
        jax.lax.cond(condition, call, lambda _: None, value)
    elif condition:
        call(value)


def _arrived(kind: str, tag: str, dataformat: str, value: Any) -> None:
    gather(kind, tag, value, dataformat)


def _settle() -> None:
    """JAX runs ahead of Python: callbacks of the steps so far may still be under way."""
    sys.modules["jax"].effects_barrier()
