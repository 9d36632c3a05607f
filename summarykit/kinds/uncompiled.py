"""Hooks of PyTorch that ``torch.compile`` leaves alone: traced with an optimizer's step, all that they record with would be compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def uncompiled(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Make a hook that runs as it is where what calls it is compiled; the same where there is no such PyTorch."""
    disable: Any = getattr(sys.modules.get("torch"), "_disable_dynamo", None)
    return disable(lambda *given: hook(*given)) if disable else hook
