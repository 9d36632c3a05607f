"""Hooks of PyTorch that ``torch.compile`` leaves alone: traced with an optimizer's step, all that they record with would be compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def uncompiled(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Make a hook that runs as it is where what calls it is compiled; the same where there is no such PyTorch."""
    torch: Any = sys.modules.get("torch")
    disable = getattr(torch, "_disable_dynamo", None)
    if disable is None:
        return hook
    apart: Callable[..., Any] = disable(lambda *given: hook(*given))
    try:
        return _apart_where_compiled(hook, apart, torch._C._dynamo.eval_frame)
    except AttributeError:    # a PyTorch that has these by other names
        return apart


def _apart_where_compiled(hook: Callable[..., Any], apart: Callable[..., Any], frames: Any) -> Callable[..., Any]:
    """Call the hook at once where nothing is compiled: with cold caches, as a step leaves them, PyTorch's switch takes 12 µs."""
    compiler = frames.get_eval_frame_callback

    def either(*given: Any) -> Any:
        return hook(*given) if compiler() is None else apart(*given)

    frames.set_code_exec_strategy(either.__code__, frames._FrameExecStrategy(frames._FrameAction.SKIP, frames._FrameAction.DEFAULT))
    setattr(either, "_torchdynamo_disable", True)  # noqa: B010  not of functions, for mypy
    return either
