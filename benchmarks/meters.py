"""Clocks for the measuring process: CPU of one thread, CPU and memory of the whole process tree. Standard library only."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_TICK = os.sysconf("SC_CLK_TCK")


class Lap(NamedTuple):
    """Seconds: of the clock, of CPU in the calling thread."""

    wall: float
    thread: float


class Reading(NamedTuple):
    """Seconds: of the clock, of CPU in this process and all below it."""

    wall: float
    tree: float


class Stopwatch:
    """Counts from when it is made. Looking for processes takes milliseconds, so it stays outside: only the last ``read`` counts."""

    def __init__(self) -> None:
        self._below = below()
        self._process = time.process_time()
        self._thread = time.thread_time()
        self._wall = time.perf_counter()

    def lap(self) -> Lap:
        """What has passed so far, at a microsecond's cost."""
        return Lap(time.perf_counter() - self._wall, time.thread_time() - self._thread)

    def read(self) -> Reading:
        """What has passed in all."""
        wall, process = time.perf_counter() - self._wall, time.process_time() - self._process
        return Reading(wall, process + below() - self._below)


def below() -> float:
    """CPU seconds of this process's children that ended, and of all processes that live below it."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + sum(map(_cpu, descendants()))


def descendants() -> list[int]:
    """Ids of all processes below this one."""
    children: dict[int, list[int]] = {}
    for pid, fields in _processes():
        children.setdefault(int(fields[1]), []).append(pid)
    found, new = [], [os.getpid()]
    while new:
        new = [child for parent in new for child in children.get(parent, [])]
        found += new
    return found


def resident() -> int:
    """Bytes of memory that this process has now."""
    return _status("VmRSS")


def forget_peak() -> None:
    """Let `peak` count from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Most bytes that this process had, and what the processes below it have for themselves now."""
    return _status("VmHWM") + sum(map(_private, descendants()))


def _cpu(pid: int) -> float:
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / _TICK if fields else 0.0


def _private(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def _status(name: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def _processes() -> Iterator[tuple[int, list[str]]]:
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := _stat(int(name))):
            yield int(name), fields


def _stat(pid: int) -> list[str]:
    """Fields of ``/proc/<pid>/stat`` from the state on, which is the third; none where the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
