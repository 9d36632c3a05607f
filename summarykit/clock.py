"""Who this process is, so that a later one can tell whether it still lives."""

from __future__ import annotations

import os

from summarykit.immutable import Immutable

BEAT_SECS = 15.0
"""So often, at least, the time of a run's lineage file moves on while its writer lives: its heartbeat."""

DEAD_SECS = 180.0
"""A heartbeat that old is that of a dead run: file servers show times late, and one long C call may hold up a writer."""


class Process(Immutable):
    """A process, told apart from every other that had or will have its number.

    Attributes:
        pid: its number.
        start: when it started, in the system's own ticks (0 where unknown).
        boot: identifies the running kernel ("" where unknown).
        pid_namespace: identifies the table that ``pid`` is looked up in: containers have their own (0 where unknown).
        host: name of the machine.
    """

    pid: int
    start: int
    boot: str
    pid_namespace: int
    host: str

    @classmethod
    def current(cls) -> Process:
        """The calling process."""
        return cls(os.getpid(), start_ticks(os.getpid()), _boot_id(), _pid_namespace(), _host())

    def surely_dead(self) -> bool:
        """True only where this machine can know: same kernel, same table of processes, and nobody there with that start."""
        return self.lives() is False

    def lives(self) -> bool | None:
        """Whether it is there; None where this machine cannot know."""
        here = Process.current()
        if not (self.boot and self.start and (self.boot, self.pid_namespace, self.host) == (here.boot, here.pid_namespace, here.host)):
            return None
        return start_ticks(self.pid) == self.start


def start_ticks(pid: int) -> int:
    """Start time of a process in the kernel's ticks; 0 where there is no such process, or it cannot be told."""
    try:
        text = _read(f"/proc/{pid}/stat")
    except OSError:
        return _start_by_psutil(pid)
    state, *fields = text.rpartition(")")[2].split()
    return 0 if state in "ZX" else int(fields[18])    # a zombie writes no more


def _read(path: str) -> str:
    """A short file of the kernel's; without Python's layers of buffers, since every writer reads some when it begins."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 4096).decode(errors="replace")
    finally:
        os.close(descriptor)


def _start_by_psutil(pid: int) -> int:
    if os.path.exists("/proc/self/stat"):
        return 0
    import psutil

    try:
        return int(psutil.Process(pid).create_time() * 1000)
    except psutil.Error:
        return 0


def _host() -> str:
    if hasattr(os, "uname"):
        return os.uname().nodename
    import platform

    return platform.node()


def _boot_id() -> str:
    try:
        return _read("/proc/sys/kernel/random/boot_id").strip()
    except OSError:
        return ""


def _pid_namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0
