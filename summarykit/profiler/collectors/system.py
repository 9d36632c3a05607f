"""Processor, memory, input and output of the machine, this process and its workers, ten times a second."""

from __future__ import annotations

import os
from time import perf_counter_ns
from typing import Any

from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.names import NAMES


class System(Collector):
    """Counters by psutil.

    ``system/cpu`` and ``system/cpu_<k>`` (per cent of all cores, of one), ``system/memory`` and ``system/memory_available`` (bytes),
    ``process/cpu`` (per cent of one core), ``process/memory`` (resident bytes), ``process/threads``, ``process/read`` and
    ``process/written`` (bytes since the start of the window), ``process/switches_voluntary`` and ``process/switches_involuntary``
    (likewise), ``workers/cpu`` (per cent of one core, all workers together) and ``worker_<n>/cpu``.
    """

    key = "system"
    period = 0.1
    soonest = 50_000_000
    """Nanoseconds: the system counts processor time in ticks of 10 ms, so their share since a look that was sooner says nothing."""

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        import psutil

        self._psutil = psutil
        self._process = psutil.Process()
        self._workers: dict[int, Any] = {}
        self._zero: dict[str, float] = {}
        self._looked = 0

    def start(self) -> None:
        """See ``Collector``: the first look is what later ones are compared with."""
        self._psutil.cpu_percent(percpu=True)
        self._process.cpu_percent()
        self._zero = self._totals()
        self._looked = perf_counter_ns()

    def tick(self) -> None:
        """See ``Collector``."""
        now = perf_counter_ns()
        soon, self._looked = now - self._looked < self.soonest, now
        for name, value in {**self._machine(), **self._own(), **self._of_workers()}.items():
            if not (soon and "cpu" in name):
                self.site.tape.counters.add((now, NAMES.number(name), float(value)))

    def stop(self) -> None:
        """See ``Collector``: a window that was too short for a look gets one."""
        self.tick()

    def _machine(self) -> dict[str, float]:
        cores = self._psutil.cpu_percent(percpu=True)
        memory = self._psutil.virtual_memory()
        values = {f"system/cpu_{core}": value for core, value in enumerate(cores)}
        total = sum(cores) / max(1, len(cores))
        return {**values, "system/cpu": total, "system/memory": memory.used, "system/memory_available": memory.available}

    def _own(self) -> dict[str, float]:
        with self._process.oneshot():
            values = {
                "process/cpu": self._process.cpu_percent(),
                "process/memory": self._process.memory_info().rss,
                "process/threads": self._process.num_threads(),
            }
            totals = self._totals()
        return {**values, **{name: total - self._zero[name] for name, total in totals.items()}}

    def _totals(self) -> dict[str, float]:
        switches = self._process.num_ctx_switches()
        totals: dict[str, float] = {"process/switches_voluntary": switches.voluntary, "process/switches_involuntary": switches.involuntary}
        if hasattr(self._process, "io_counters"):
            io = self._process.io_counters()
            totals |= {"process/read": io.read_bytes, "process/written": io.write_bytes}
        return totals

    def _of_workers(self) -> dict[str, float]:
        values: dict[str, float] = {}
        for place, pid in enumerate(sorted(self.site.workers)):
            share = self._share(pid)
            if share is not None:
                values[f"worker_{place}/cpu"] = share
        return {**values, "workers/cpu": sum(values.values())} if values else {}

    def _share(self, pid: int) -> float | None:
        """What a worker took since the last look; None where it is gone, or met for the first time."""
        try:
            if pid not in self._workers:
                self._workers[pid] = self._psutil.Process(pid)
                self._workers[pid].cpu_percent()
                return None
            return float(self._workers[pid].cpu_percent())
        except self._psutil.Error:
            return None

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {
            "cores": self._psutil.cpu_count(),
            "cores_allowed": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else self._psutil.cpu_count(),
            "memory_total": self._psutil.virtual_memory().total,
        }
