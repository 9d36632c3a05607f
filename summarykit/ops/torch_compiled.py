"""Operators under ``torch.compile``: one operation in the compiled graph, which looks at run time whether its step is collected.

It breaks no graph, guards on nothing (so nothing is compiled anew when collecting begins or ends), and is kept though nothing uses it.
An exported model has no such operation: it must run where this library is not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from summarykit.ops.current import gather

NAME = "summarykit"
"""The operation is ``torch.ops.summarykit.record``."""

_torch: Any = None    # in a graph: torch.compile would go through all of `sys.modules`, and fail where another thread is importing
_exporting: Any = None


@cache
def library() -> Any:
    """Register the operation, once; gives its owner, with whose life it ends."""
    global _torch, _exporting
    _torch = torch = sys.modules["torch"]
    _exporting = torch.compiler.is_exporting    # since 2.7; missed here, not by the model
    found = torch.library.Library(NAME, "FRAGMENT")
    tags = [getattr(torch.Tag, name) for name in ("cudagraph_unsafe",) if hasattr(torch.Tag, name)]    # a captured graph calls no Python
    found.define("record(str kind, str tag, Tensor value, str dataformat) -> ()", tags=tags)
    found.impl("record", _record, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{NAME}::record", lambda kind, tag, value, dataformat: None, lib=found)
    if hasattr(torch.library, "register_vmap"):    # since 2.5
        torch.library.register_vmap(f"{NAME}::record", _record_batch, lib=found)
    effects = torch._higher_order_ops.effects
    effects._register_effectful_op(torch.ops.summarykit.record.default, effects._EffectType.ORDERED)
    return found


def _record(kind: str, tag: str, value: Any, dataformat: str) -> None:
    gather(kind, tag, value, dataformat)


def _record_batch(info: Any, axes: Sequence[int | None], kind: str, tag: str, value: Any, dataformat: str) -> tuple[None, None]:
    """Of a value that ``torch.vmap`` has for each example, that of the last one."""
    axis = axes[2]
    _torch.ops.summarykit.record(kind, tag, value if axis is None else value.select(axis, -1), dataformat)
    return None, None


def give(kind: str, tag: str, value: Any, dataformat: str) -> None:
    """Put the operation into the graph that is just being compiled."""
    torch = _torch
    if not _exporting():
        tensor = value.detach() if isinstance(value, torch.Tensor) else torch.as_tensor(value)
        torch.ops.summarykit.record(kind, tag, tensor, dataformat)
