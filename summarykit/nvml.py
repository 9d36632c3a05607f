"""NVIDIA's GPUs that CUDA shows to this process, by NVML."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from summarykit.lazy import optional

READINGS: dict[str, Callable[[Any, Any], float]] = {
    "utilization": lambda nvml, gpu: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu,
    "memory": lambda nvml, gpu: nvml.nvmlDeviceGetMemoryInfo(gpu).used,
    "power": lambda nvml, gpu: nvml.nvmlDeviceGetPowerUsage(gpu) / 1e3,
    "temperature": lambda nvml, gpu: nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU),
}
"""What is read of each: per cent, bytes, watts, degrees Celsius."""


class Gpus:
    """The GPUs in ``CUDA_VISIBLE_DEVICES``, or all; none where there is no GPU or no driver."""

    def __init__(self, purpose: str) -> None:
        """Import NVML's package; the driver is asked when the first value is.

        Args:
            purpose: who needs it, for the error's message.

        Raises:
            MissingExtraError: nvidia-ml-py is not installed.
        """
        self._nvml: Any = optional("pynvml", extra="gpu", purpose=purpose)

    @cached_property
    def handles(self) -> list[Any]:
        """NVML's own objects, in the order of ``cuda:n``."""
        nvml = self._nvml
        try:
            nvml.nvmlInit()
        except nvml.NVMLError:    # no driver, no GPU
            return []
        shown = visible(os.environ.get("CUDA_VISIBLE_DEVICES"), nvml.nvmlDeviceGetCount())
        return [nvml.nvmlDeviceGetHandleByIndex(gpu) if isinstance(gpu, int) else nvml.nvmlDeviceGetHandleByUUID(gpu) for gpu in shown]

    def read(self) -> Iterator[tuple[int, str, float]]:
        """What is in ``READINGS``: n as in ``cuda:n``, name, value."""
        for number, gpu in enumerate(self.handles):
            for name, look in READINGS.items():
                try:
                    value = float(look(self._nvml, gpu))
                except self._nvml.NVMLError:    # this model, or this driver, does not tell
                    continue
                yield number, name, value

    def names(self) -> list[str]:
        """The models."""
        return [str(self._nvml.nvmlDeviceGetName(gpu)) for gpu in self.handles]

    def memory(self) -> list[int]:
        """Bytes that each has."""
        return [int(self._nvml.nvmlDeviceGetMemoryInfo(gpu).total) for gpu in self.handles]


def visible(variable: str | None, count: int) -> list[int | str]:
    """The GPUs that CUDA shows to a process, in its order.

    Args:
        variable: ``CUDA_VISIBLE_DEVICES``: numbers or UUIDs; CUDA ignores what comes behind one that it does not know.
        count: GPUs of the machine.

    Returns:
        Numbers, or UUIDs as they are.
    """
    if variable is None:
        return list(range(count))
    found: list[int | str] = []
    for name in map(str.strip, variable.split(",")):
        if name.startswith(("GPU-", "MIG-")):
            found.append(name)
        elif name.isascii() and name.isdigit() and int(name) < count:
            found.append(int(name))
        else:
            break
    return found
