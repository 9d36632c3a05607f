"""Forks and the end of the process: what lives is tracked weakly, and told."""

from __future__ import annotations

import atexit
import os
import sys
import time
import weakref
from typing import Protocol, TypeVar

from summarykit.writing.pump import Pump, Served
from summarykit.writing.syncer import Syncer

EXIT_SECS = 30.0
"""Seconds that the end of the process waits at most, as long as there is progress (5 s without)."""

PUMP_SECS = 1.0
"""Seconds that it waits at most for the pump's last turn."""

SYNC_SECS = 5.0
"""Seconds that it waits at most for closed files to reach the disk."""


class Forked(Protocol):
    """Something that must begin anew in a forked child."""

    def after_fork(self) -> None:
        """Called in the child."""


class Live(Served, Protocol):
    """A writer's desk, as the end of the process sees it."""

    ended: bool

    def flush(self, *, sync: bool = ..., patience: float = ...) -> bool:
        """Wait until all is in the file."""

    def write_directly(self) -> None:
        """Use no thread from now on."""


_T = TypeVar("_T")

Weak = weakref.WeakKeyDictionary[_T, None]
"""Objects as long as they live. Unlike a ``WeakSet`` it has a copy of itself in one step, which no signal handler or thread can change."""


def alive(objects: Weak[_T]) -> list[_T]:
    """Those that live."""
    return [each for ref in objects.keyrefs() if (each := ref()) is not None]


class _State:
    """The pump of this process, and all that must be told of forks and exits."""

    def __init__(self) -> None:
        self.tracked: Weak[Forked] = weakref.WeakKeyDictionary()
        self.begin()

    def begin(self) -> None:
        """Begin, or begin anew in a forked child."""
        self.syncer = Syncer()
        self.pump = Pump(at_end=self.syncer.carry_out)
        self.attended: Weak[Live] = weakref.WeakKeyDictionary()
        self.watching = False
        self.ending = False


_state = _State()


def pump() -> Pump:
    """The pump of this process."""
    return _state.pump


def syncer() -> Syncer:
    """The syncer of this process."""
    return _state.syncer


def track(forked: Forked) -> None:
    """Tell it when this process was forked, as long as it lives."""
    _state.tracked[forked] = None


def attend(writer: Live) -> bool:
    """Serve a writer by the pump; False where the process is ending and it must write by itself."""
    _state.attended[writer] = None
    return not _state.ending and _state.pump.attend(writer)


def watch_exit() -> None:
    """In a child of multiprocessing, which ends without ``atexit``, use its own finalisers; once per process."""
    process = sys.modules.get("multiprocessing.process")    # a child of multiprocessing has it; nobody else need import it
    if not _state.watching and process is not None and process.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, at_exit, exitpriority=100)
    _state.watching = True


def at_exit() -> None:
    """Write what is there, then let every writer that is used later (by other exit handlers) write in the calling thread."""
    try:
        _finish()
    except KeyboardInterrupt:    # Ctrl-C is often pressed twice; what was recorded is still written, in bounded time
        _finish()


def _finish() -> None:
    end = time.monotonic() + EXIT_SECS
    for writer in alive(_state.attended):
        if not writer.ended:    # also of those that are being closed
            writer.flush(patience=min(5.0, max(0.0, end - time.monotonic())))
    _state.ending = True
    writers = alive(_state.attended)
    for writer in writers:
        _state.pump.dismiss(writer)
    _state.pump.wait(PUMP_SECS)
    for writer in writers:
        if not writer.ended:
            writer.write_directly()
    _state.syncer.wait(min(SYNC_SECS, max(0.0, end - time.monotonic())))


def _after_fork_in_child() -> None:
    tracked = alive(_state.tracked)
    _state.begin()
    for forked in tracked:
        forked.after_fork()


atexit.register(at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
