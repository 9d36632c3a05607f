"""Operators inside ``jax.jit``: a callback in the compiled function, which looks at run time whether its step is collected."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from summarykit.ops.current import gather, on_settling


def give(kind: str, tag: str, value: Any, dataformat: str) -> None:
    """Put a callback into the function that is just being traced."""
    on_settling(_settle)
    sys.modules["jax"].debug.callback(partial(_arrived, kind, tag, dataformat), value)


def _arrived(kind: str, tag: str, dataformat: str, value: Any) -> None:
    gather(kind, tag, value, dataformat)


def _settle() -> None:
    """JAX runs ahead of Python: callbacks of the steps so far may still be under way."""
    sys.modules["jax"].effects_barrier()
