"""Processor, memory, disk and network of the machine, and what this process takes of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MB, GB = 1e6, 1e9


class Machine:
    """What the operating system says.

    ==============================================  ====================================================================
    ``cpu_percent``                                 of all processors together, since the sample before
    ``process_cpu_percent``                         of this process: 100 is one processor
    ``memory_percent``                              of the machine's memory, in use by all
    ``process_memory_mb``                           resident set of this process, 10**6 bytes
    ``disk_free_gb``                                left where the run's directory is, 10**9 bytes
    ``disk_read_mb_s``, ``disk_written_mb_s``       of all disks
    ``network_received_mb_s``, ``network_sent_mb_s``  of all interfaces
    ==============================================  ====================================================================

    What a system does not tell is left out.
    """

    def __init__(self, directory: Path) -> None:
        """Begin to measure; ``directory`` is the run's."""
        import psutil

        self._psutil = psutil
        self._directory = directory
        self._process = psutil.Process()
        self._before = self._transferred()
        self._process.cpu_percent()
        psutil.cpu_percent()

    def sample(self) -> dict[str, float]:
        """Give the numbers by name."""
        now = self._transferred()
        with self._process.oneshot():
            found = {
                "cpu_percent": self._psutil.cpu_percent(),
                "process_cpu_percent": self._process.cpu_percent(),
                "memory_percent": self._psutil.virtual_memory().percent,
                "process_memory_mb": self._process.memory_info().rss / MB,
            }
        found |= _per_second(self._before, now)
        self._before = now
        return found | self._room()

    def _room(self) -> dict[str, float]:
        try:
            return {"disk_free_gb": self._psutil.disk_usage(str(self._directory)).free / GB}
        except OSError:
            return {}

    def _transferred(self) -> dict[str, float]:
        """Bytes so far, by name, and the time they were counted at."""
        return {"": time.monotonic(), **dict(self._counters())}

    def _counters(self) -> Iterator[tuple[str, float]]:
        if disk := _asked(self._psutil.disk_io_counters):
            yield from {"disk_read": disk.read_bytes, "disk_written": disk.write_bytes}.items()
        if network := _asked(self._psutil.net_io_counters):
            yield from {"network_received": network.bytes_recv, "network_sent": network.bytes_sent}.items()


def _per_second(before: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    seconds = now[""] - before[""]
    return {f"{name}_mb_s": (now[name] - before[name]) / MB / seconds for name in now if name and name in before and seconds > 0}


def _asked(count: Any) -> Any:
    """Counters, or None where the system keeps none for us (containers, for one)."""
    try:
        return count()
    except (OSError, RuntimeError, NotImplementedError):
        return None
