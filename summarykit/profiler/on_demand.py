"""A callback that profiles a training that runs, whenever somebody asks for it from outside."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from time import monotonic
from types import FrameType, TracebackType
from typing import Any

from summarykit.notices import logger
from summarykit.profiler.profiler import Profiler
from summarykit.profiler.sigaction import Action
from summarykit.profiler.toggle import Toggle
from summarykit.training.context import RunContext
from summarykit.whole import check_integer

FILE = "profile_now"
"""Name of the file in the profiler's ``output_path`` that asks for a window when it is touched."""
EVERY = 1.0
"""Seconds between two looks at that file."""

_theirs: dict[signal.Signals, tuple[Any, Action]] = {}    # the handler before ours; what the system does while it is ours
_listening: dict[Any, list[ProfileOnDemand]] = {}


def _came(number: int, frame: FrameType | None) -> None:
    known = signal.Signals(number)
    for one in _listening[known]:
        one._asked = True
    if not _listening[known] and signal.getsignal(known) is _came:    # the last one left in another thread
        _give_back(known, Action(known))
        signal.raise_signal(number)


def _take(number: Any) -> None:
    """Handle a signal from now on.

    Raises:
        ValueError, OSError: there is no such signal, not in this thread; or a handler is there that Python does not know.
    """
    if not isinstance(number, signal.Signals) or signal.getsignal(number) is None:
        raise ValueError("no such signal, or one that is not Python's")
    if signal.getsignal(number) is not _came:
        before = Action(number)
        if before.is_handled and not callable(signal.getsignal(number)):
            raise ValueError("other code than Python's handles it")
        theirs = signal.signal(number, _came)
        _theirs[number] = theirs, Action(number)
        if before.is_handled_unlike(_theirs[number][1]):    # it came after a handler of Python's
            _give_back(number, before)
            raise ValueError("other code than Python's handles it")


def _give_back(number: signal.Signals, now: Action) -> None:
    """Let Python's ``signal`` do again what it did before, and leave it alone where it is other code's now."""
    theirs, ours = _theirs[number]
    if signal.getsignal(number) is _came:
        signal.signal(number, theirs)
        if now.is_handled_unlike(ours):
            now.give_back()


class ProfileOnDemand(Toggle):
    """Profiles the next steps whenever the process gets a signal, or a file is touched.

    ::

        Loop(..., callbacks=[ProfileOnDemand(20, profiler=profiler)])

        kill -USR1 PID                          # this process
        touch ./summary/profiler/profile_now    # every process that has this output_path: all ranks

    The window begins with the step after the one that is running. What is asked for while a window is open is part of that. Outside of
    the training the signal does again what it did before; where it cannot be had (not in the main thread, not on Windows, not where other
    code than Python's handles it, such as ``faulthandler.register``) that is said, and the file is what remains. What ``faulthandler`` or
    such code registers during the training takes the signal away, and stays.
    """

    unit = "step"

    def __init__(self, steps: int = 20, profiler: Profiler | None = None, signal_name: str | None = "SIGUSR1") -> None:
        """Make the callback.

        Args:
            steps: how many steps a window has, 1 or more.
            profiler: see ``StopAtStep``.
            signal_name: which signal asks for a window; None: none does.

        Raises:
            TypeError, ValueError: no such number, or no name of a signal.
        """
        super().__init__((), profiler)
        if signal_name is not None and not (isinstance(signal_name, str) and signal_name.startswith("SIG")):
            raise ValueError(f"signal_name: a name such as 'SIGUSR1' or None is needed, got {signal_name!r}")
        self.steps = check_integer("steps", steps, 1)
        self.signal_name = signal_name
        self._asked = False
        self._look = 0.0
        self._touched = 0

    @property
    def file(self) -> Path:
        """The file that asks for a window when it is touched."""
        return self.profiler.output_path / FILE

    def __enter__(self) -> ProfileOnDemand:
        super().__enter__()
        if self._depth == 1:
            self.ranges, self._asked = (), False
            with suppress(OSError):    # that nothing can be written there is said when a window opens
                self.file.parent.mkdir(parents=True, exist_ok=True)
            self._touched = self._time_of_file()
            self._listen()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """See ``Toggle``."""
        try:
            if self._depth == 1:
                self._listen_no_more()
        finally:
            super().__exit__(kind, error, trace)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self.profiler.step_begin(run_context.original_args()["cur_step_num"])

    def on_train_step_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        step = run_context.original_args()["cur_step_num"]
        self.profiler.step_end(step)
        self._ended(step)
        if self._asked or self._was_touched():
            self._asked = False
            if not self._mine:
                self.ranges = ((step + 1, step + self.steps),)
                self._open_for(step + 1, step + 1)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self.profiler.between()

    def on_eval_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self.profiler.between()

    def _listen(self) -> None:
        if self.signal_name is None:
            return
        number = getattr(signal, self.signal_name, None)
        listening = _listening.setdefault(number, [])
        listening.append(self)    # first: it may come at once
        try:
            _take(number)
        except (ValueError, OSError):
            listening.remove(self)
            what = "ProfileOnDemand: %s cannot be had in this thread or system, or is handled by other code than Python's: touch %s instead"
            logger.warning(what, self.signal_name, self.file)

    def _listen_no_more(self) -> None:
        """The last one that listens gives the signal back, unless somebody else took it meanwhile."""
        for number, listening in list(_listening.items()):
            if self in listening:
                listening.remove(self)
                if not listening:
                    with suppress(ValueError):    # in another thread it cannot be given back: when it comes, `_came` does
                        _give_back(number, Action(number))

    def _was_touched(self) -> bool:
        now = monotonic()
        if now < self._look:
            return False
        self._look = now + EVERY
        before, self._touched = self._touched, self._time_of_file()
        return self._touched > before

    def _time_of_file(self) -> int:
        try:
            return os.stat(self.file).st_mtime_ns
        except OSError:
            return 0

    def _close(self) -> None:
        if self._mine:
            logger.info("ProfileOnDemand: summarykit profile %s", self.profiler.windows[-1].directory)
        super()._close()
