"""A worker process as its trainer sees it: started, told what to do, listened to, ended."""

from __future__ import annotations

import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import summarykit
from summarykit.writing import boot
from summarykit.writing.channel import Channel
from summarykit.writing.job import Task
from summarykit.writing.messages import Do, Done, End, Hello, Ready, Settled
from summarykit.writing.options import WriterOptions

START_SECS = 60.0
"""Seconds that a worker may take to import what it needs."""

ANSWER_SECS = 3.0
"""Seconds without a word after which a worker with work is taken for dead; more for large values, by `ANSWER_BYTES`."""

ANSWER_BYTES = 20e6
"""Bytes a second that a worker gets through at the least."""

END_SECS = 1.0
"""Seconds that a dismissed worker may take to end."""

# What terminals and launchers send to whole groups.
_BLOCKED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM")
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB")}


def hindrance() -> str:
    """Why no worker can be had here; empty where one can."""
    if not all(hasattr(os, name) for name in ("memfd_create", "pidfd_open", "posix_spawn", "eventfd")):
        return "this system has no shared memory files or process descriptors"
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.lower().startswith(("python", "pypy")):
        return f"sys.executable is no Python interpreter ({sys.executable!r})"
    if not os.access(sys.executable, os.X_OK):
        return f"{sys.executable} cannot be executed"
    return ""


class Hired:
    """One worker.

    Attributes:
        ready: it has imported what it needs.
        doing: what it has not answered yet, by number, in the order in which it was told.
        load: bytes of that.
        known: what it has and is not settled: held until it is told so, since it reads their memory when the trainer dies.
    """

    def __init__(self, options: WriterOptions) -> None:
        """Start it.

        Raises:
            OSError: the system refused.
        """
        from socket import socketpair

        here, there = socketpair()
        desk = os.memfd_create("summarykit-desk")
        try:
            os.ftruncate(desk, boot.DESK_BYTES)
            self._desk = mmap.mmap(desk, boot.DESK_BYTES)
            self.pid, self.process = _spawn(there.fileno(), desk)
        except OSError:
            here.close()
            raise
        finally:
            there.close()
            os.close(desk)
        with suppress(OSError):    # it has ended at once, which its descriptor tells too
            here.sendall(_encoded_path())
        self.channel = Channel(here)
        self.ready = False
        self.doing: dict[int, Task] = {}
        self.load = 0
        self.known: dict[int, Any] = {}
        self._outbox: list[Any] = [Hello(options)]
        self._leaving: list[Any] = []    # memory that may be used again once it has been told
        self._heard_at = time.monotonic()
        self._started_at = self._heard_at

    def tell(self, message: Any, descriptors: tuple[int, ...] = ()) -> None:
        """Say something with the next `post`; at once, with all before it, where descriptors come along."""
        self._outbox.append(message)
        if descriptors:
            self.post(descriptors)

    def order(self, order: Do, task: Task, memory: Any) -> None:
        """Give it a task whose arrays lie in ``memory``."""
        if not self.doing:
            self._heard_at = time.monotonic()
        if order.now:
            self.doing[order.number] = task
            self.load += task.job.nbytes
        self.known[order.number] = memory
        self._outbox.append(order)

    def settle(self, before: int) -> None:
        """All tasks of lower numbers are in the file."""
        numbers = [number for number in self.known if number < before]
        if numbers:
            self._leaving += [self.known.pop(number) for number in numbers]
            self._outbox.append(Settled(before))

    def post(self, descriptors: tuple[int, ...] = ()) -> None:
        """Send what was said. What the socket does not take now goes with the next call."""
        messages, self._outbox = self._outbox, []
        with suppress(OSError):    # it is dead, which its descriptor tells too
            if self.channel.send(messages, descriptors) if messages else self.channel.flush():
                self._leaving.clear()

    def listen(self) -> Iterator[tuple[Task, Done]]:
        """What it has done."""
        for messages in self.channel.receive():
            self._heard_at = time.monotonic()
            for message in messages:
                if isinstance(message, Ready):
                    self.ready = True
                else:
                    task = self.doing.pop(message.number)
                    self.load -= task.job.nbytes
                    self.known[message.number] = None    # it has the result, and needs the memory no more
                    yield task, message

    @property
    def age(self) -> float:
        """Seconds since its start."""
        return time.monotonic() - self._started_at

    def at(self) -> int | None:
        """The number of the task that it is at, or was at when it ended; None where it is at none."""
        number = int.from_bytes(self._desk[:], "little") - 1
        return None if number < 0 else number

    def deadline(self) -> float | None:
        """When it must have said something, in seconds of the monotonic clock; None where nothing is expected."""
        if not self.ready:
            return self._started_at + START_SECS
        if not self.doing and not self.channel.waiting:
            return None
        largest = next(iter(self.doing.values())).job.nbytes if self.doing else 0
        return self._heard_at + ANSWER_SECS + largest / ANSWER_BYTES

    def kill(self) -> None:
        """End it by force."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)

    def dismiss(self) -> None:
        """Say that it is enough."""
        self.tell(End())
        self.post()

    def bury(self) -> int:
        """Wait for its end, and close what belonged to it.

        Returns:
            The signal that ended it, or 0.
        """
        if not select.select([self.process], [], [], END_SECS)[0]:
            self.kill()
        status = 0
        with suppress(ChildProcessError):    # the user's own code waits for all children
            status = os.waitpid(self.pid, 0)[1]
        self.abandon()
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0

    def abandon(self) -> None:
        """Close what belonged to it, and leave it alone: in a forked child it is not ours."""
        self.channel.close()
        self._desk.close()
        process, self.process = self.process, -1
        if process >= 0:
            os.close(process)
        for held in (self.doing, self.known, self._leaving):
            held.clear()


def _spawn(end: int, desk: int) -> tuple[int, int]:
    """Start the interpreter, with these and a descriptor of this process open. No fork: there may be threads, and CUDA.

    Returns:
        Its id, and a descriptor of it.
    """
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    own = [os.pidfd_open(os.getpid()), os.open(os.devnull, os.O_RDWR)]
    given = [end, own[0], desk, own[1], own[1], own[1]]
    copies = [fcntl(each, F_DUPFD_CLOEXEC, boot.DESK + 1) for each in given]    # high, where none of the places below is
    try:
        actions = [(os.POSIX_SPAWN_DUP2, *pair) for pair in zip(copies, (boot.SOCKET, boot.TRAINER, boot.DESK, 0, 1, 2), strict=True)]
        command = [sys.executable, "-I", boot.__file__]
        blocked = [getattr(signal, name) for name in _BLOCKED]
        pid = os.posix_spawn(sys.executable, command, {**os.environ, **_ONE_THREAD}, file_actions=actions, setsigmask=blocked)
    finally:
        for each in own + copies:
            os.close(each)
    return pid, os.pidfd_open(pid)


def _encoded_path() -> bytes:
    """``sys.path``, led by the folders that NumPy and this package came from; what stands for the working directory is left out."""
    first = [str(Path(str(module.__file__)).parents[1]) for module in (np, summarykit)]
    rest = [entry for entry in sys.path if isinstance(entry, str) and os.path.isabs(entry)]
    path = os.fsencode("\0".join(dict.fromkeys([*first, *rest])))
    return struct.pack("<I", len(path)) + path
