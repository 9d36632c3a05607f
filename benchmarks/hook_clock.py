"""A clock that only goes while a framework is in a recorder's hooks: what they take of the training thread, and no noise of the loop's."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any


class HookClock:
    """Reads as the seconds of thread CPU spent so far in the calls that it was put around.

    To read the thread's clock takes about half a microsecond, which counts with the hook: a recorder that does nothing shows how much.
    """

    def __init__(self) -> None:
        self._spent = 0.0

    def __call__(self) -> float:
        """The seconds so far."""
        return self._spent

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """That call, timed."""

        @wraps(call)    # scikit-learn looks what its hooks take
        def timed(*args: Any, **kwargs: Any) -> Any:
            begun = time.thread_time()
            try:
                return call(*args, **kwargs)
            finally:
                self._spent += time.thread_time() - begun

        return timed

    def watch(self, owner: Any, *names: str) -> None:
        """Put itself around methods of one object, which its framework looks up there."""
        for name in names:
            setattr(owner, name, self.around(getattr(owner, name)))


def watch_methods(clock: Any, owner: Any, *names: str) -> None:
    """Let a clock go in these methods of a recorder, if it is one of hooks."""
    if isinstance(clock, HookClock):
        clock.watch(owner, *names)


def watch_hooks(clock: Any, *hooks: dict[Any, Any]) -> None:
    """The same for hooks that PyTorch keeps in a dictionary."""
    if isinstance(clock, HookClock):
        for kept in hooks:
            kept.update({key: clock.around(hook) for key, hook in kept.items()})
