"""Hooks of every PyTorch optimizer, which may be put in place and taken away also from within such a hook.

PyTorch goes through the hooks themselves, not through a copy: a hook that adds or removes one of its own kind breaks the optimizer's
step. And adapters that watch optimizers open and close windows right there. So a hook whose kind is being gone through is added
later, by the hook of the other kind, or stays, and does nothing, until the next occasion.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_PLACE = "torch.optim.optimizer"


class OptimizerHooks:
    """A function before and one after each step of any optimizer (PyTorch 2.0 and later; before, none is called)."""

    def __init__(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        """Take the functions."""
        self._calls = {"pre": before, "post": after}
        self._handles: dict[str, Any] = {}
        self._wanted = False

    def install(self) -> None:
        """Put the hooks in place."""
        self._wanted = True
        running = _running()
        for kind in self._calls:
            if kind != running:
                self._add(kind)

    def remove(self) -> None:
        """Take the hooks away."""
        self._wanted = False
        running = _running()
        for kind in [one for one in self._handles if one != running]:
            self._handles.pop(kind).remove()

    def _add(self, kind: str) -> None:
        register = getattr(sys.modules[_PLACE], f"register_optimizer_step_{kind}_hook", None)
        if register is not None and kind not in self._handles:
            self._handles[kind] = register(self._before if kind == "pre" else self._after)

    def _before(self, *_: Any) -> None:
        if self._wanted:
            self._add("post")
            self._calls["pre"]()

    def _after(self, *_: Any) -> None:
        if self._wanted:
            self._add("pre")
            self._calls["post"]()


def _running() -> str:
    """Which kind of hooks this thread is in the middle of: ``"pre"``, ``"post"`` or none."""
    file = sys.modules[_PLACE].__file__
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == file and "post_hook" in frame.f_code.co_varnames:
            return "post" if "post_hook" in frame.f_locals else "pre"
        frame = frame.f_back
    return ""
