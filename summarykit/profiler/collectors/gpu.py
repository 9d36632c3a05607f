"""Utilisation, memory, power and temperature of NVIDIA devices, by NVML."""

from __future__ import annotations

import importlib.util
import os
from time import perf_counter_ns
from typing import Any

from summarykit import nvml
from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.names import NAMES


class Gpu(Collector):
    """Counters of each device: ``gpu_<k>/utilization`` (per cent), ``/memory`` (bytes used), ``/power`` (W), ``/temperature`` (°C).

    k is as in ``cuda:k``: the devices are those that CUDA shows to this process.
    """

    key = "gpu"
    period = 0.1

    def __init__(self, site: Site) -> None:
        """See ``Collector``.

        Raises:
            MissingExtraError: nvidia-ml-py is not installed.
        """
        super().__init__(site)
        self._gpus = nvml.Gpus('the collector "gpu"')

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return os.path.exists("/dev/nvidiactl") and importlib.util.find_spec("pynvml") is not None

    def tick(self) -> None:
        """See ``Collector``."""
        now = perf_counter_ns()
        for number, name, value in self._gpus.read():
            self.site.tape.counters.add((now, NAMES.number(f"gpu_{number}/{name}"), value))

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"devices": self._gpus.names(), "memory_total": self._gpus.memory()}
