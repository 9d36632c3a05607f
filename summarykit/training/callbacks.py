"""Several callbacks as one: called in order, entered and left together."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from summarykit.notices import Notices
from summarykit.training.callback import HOOKS, Callback
from summarykit.training.context import RunContext
from summarykit.training.triggers import NEVER


class CallbackList:
    """Calls every hook in the order of the list and leaves the callbacks in the reverse order.

    A user's exception passes through. An exception of a callback that is ``fail_safe`` is logged once for each hook and
    goes no further; the callback stays in use, since what failed (a full disk, a busy device) may work again.
    """

    def __init__(self, callbacks: Callback | Iterable[Callback] | None = ()) -> None:
        """Take the callbacks.

        Args:
            callbacks: one, several or None. Any object with all hooks will do: MindSpore's callbacks have them.

        Raises:
            TypeError: one of them lacks hooks.
            ValueError: one object is there twice.
        """
        given = () if callbacks is None else callbacks
        self.callbacks: list[Callback] = list(given) if isinstance(given, Iterable) else [given]
        for callback in self.callbacks:
            _check(callback)
        if len({id(callback) for callback in self.callbacks}) < len(self.callbacks):
            raise ValueError("callbacks: the same object is there twice")
        self._notices = Notices()

    def __iter__(self) -> Iterator[Callback]:
        return iter(self.callbacks)

    @property
    def wakes_at(self) -> int:
        """Before this step none of them need be called for steps; what an object has without its class saying so may be of one inside."""
        return min([callback.wakes_at if hasattr(type(callback), "wakes_at") else 0 for callback in self.callbacks], default=NEVER)

    def fire(self, hook: str, run_context: RunContext) -> None:
        """Call one hook (``"on_train_begin"`` …) of every callback that has it."""
        for callback in self.callbacks:
            method = getattr(callback, hook, None)
            if method is not None:
                try:    # as in `_call`; of this there are two in each step
                    method(run_context)
                except Exception:
                    if not self._survived(callback, hook):
                        raise

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Enter all; whatever ends the block, all that were entered are left, in reverse order."""
        with ExitStack() as stack:
            for callback in self.callbacks:
                self._call(callback, "__enter__", callback.__enter__)
                stack.push(partial(self._leave, callback))
            yield

    def _leave(self, callback: Callback, *error: Any) -> bool:
        self._call(callback, "__exit__", callback.__exit__, *error)
        return False

    def _call(self, callback: Callback, hook: str, method: Any, *args: Any) -> None:
        try:
            method(*args)
        except Exception:
            if not self._survived(callback, hook):
                raise

    def _survived(self, callback: Callback, hook: str) -> bool:
        """True where the exception in flight goes no further."""
        if not getattr(callback, "fail_safe", False):
            return False
        name = type(callback).__name__
        self._notices.once((id(callback), hook), "%s.%s failed, the training goes on: %s", name, hook, traceback.format_exc())
        return True


def _check(callback: object) -> None:
    missing = [name for name in ("__enter__", "__exit__", *HOOKS) if not callable(getattr(callback, name, None))]
    if isinstance(callback, type) or missing:
        kind = type(callback)
        what = f"the class {callback.__name__}" if isinstance(callback, type) else f"{kind.__name__} of {kind.__module__}"
        lacks = f" (it lacks {', '.join(missing)})" if missing else ""
        raise TypeError(f"callbacks: objects derived from summarykit's Callback are needed, got {what}{lacks}")
