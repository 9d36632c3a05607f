"""The moment right after an update: many loops zero their gradients before the step is over."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from summarykit.kinds.uncompiled import uncompiled
from summarykit.notices import Notices


class UpdateHook:
    """Calls back once, right after a PyTorch optimizer's next update, while its gradients are still there."""

    def __init__(self, act: Callable[[], None], notices: Notices) -> None:
        """Remember what to do then; where that fails it is told once, and the optimizer goes on."""
        self._act, self._notices = act, notices
        self._handle: Any = None
        self._hook: Callable[..., None] | None = None
        self._called = False

    def arm(self, optimizer: Any) -> None:
        """From now on; an optimizer without such hooks (or several optimizers) will not call."""
        self.disarm()
        optimizer = getattr(optimizer, "optimizer", optimizer)    # Accelerate's wraps PyTorch's, and calls no hooks of its own
        if callable(register := getattr(optimizer, "register_step_post_hook", None)):
            self._hook = self._hook or uncompiled(self._call)
            self._handle = register(self._hook)

    def disarm(self) -> bool:
        """No longer; True where it was called since it was armed."""
        called, self._called = self._called, False
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        return called

    def _call(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._called:
            return
        self._called = True
        try:
            self._act()
        except Exception:  # noqa: BLE001 - this is called by the optimizer itself, which goes on whatever comes
            self._notices.once("update", "gradients are not recorded: %s", traceback.format_exc())
