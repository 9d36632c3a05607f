"""Utilisation, memory, power and temperature of NVIDIA devices, by NVML."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import perf_counter_ns
from typing import Any

from summarykit import lazy
from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.names import NAMES


class Gpu(Collector):
    """Counters of each device: ``gpu_<k>/utilization`` (per cent), ``/memory`` (bytes used), ``/power`` (W), ``/temperature`` (°C)."""

    key = "gpu"
    period = 0.1

    def __init__(self, site: Site) -> None:
        """See ``Collector``.

        Raises:
            MissingExtraError: nvidia-ml-py is not installed.
        """
        super().__init__(site)
        self._nvml: Any = lazy.optional("pynvml", extra="gpu", purpose='the collector "gpu"')
        self._devices: list[Any] = []

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return os.path.exists("/dev/nvidiactl") and importlib.util.find_spec("pynvml") is not None

    def start(self) -> None:
        """See ``Collector``."""
        self._nvml.nvmlInit()
        self._devices = [self._nvml.nvmlDeviceGetHandleByIndex(place) for place in range(self._nvml.nvmlDeviceGetCount())]

    def tick(self) -> None:
        """See ``Collector``."""
        now = perf_counter_ns()
        for place, device in enumerate(self._devices):
            for name, value in self._values(device):
                self.site.tape.counters.add((now, NAMES.number(f"gpu_{place}/{name}"), float(value)))

    def stop(self) -> None:
        """See ``Collector``."""
        self._nvml.nvmlShutdown()

    def _values(self, device: Any) -> Iterator[tuple[str, float]]:
        nvml = self._nvml
        looks: dict[str, Callable[[], float]] = {
            "utilization": lambda: nvml.nvmlDeviceGetUtilizationRates(device).gpu,
            "memory": lambda: nvml.nvmlDeviceGetMemoryInfo(device).used,
            "power": lambda: nvml.nvmlDeviceGetPowerUsage(device) / 1e3,
            "temperature": lambda: nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU),
        }
        for name, look in looks.items():
            with suppress(nvml.NVMLError):    # a device without that sensor
                yield name, look()

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        nvml = self._nvml
        return {
            "devices": [str(nvml.nvmlDeviceGetName(device)) for device in self._devices],
            "memory_total": [nvml.nvmlDeviceGetMemoryInfo(device).total for device in self._devices],
        }
