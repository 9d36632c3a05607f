"""NVIDIA's GPUs, as far as this process may see them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from summarykit.errors import MissingExtraError
from summarykit.lazy import optional
from summarykit.notices import Notices

READINGS: dict[str, Callable[[Any, Any], float]] = {
    "utilization_percent": lambda nvml, gpu: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu,
    "memory_used_mb": lambda nvml, gpu: nvml.nvmlDeviceGetMemoryInfo(gpu).used / 1e6,
    "power_watts": lambda nvml, gpu: nvml.nvmlDeviceGetPowerUsage(gpu) / 1e3,
    "temperature_celsius": lambda nvml, gpu: nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU),
}
"""What is read of each: ``gpu/<n>/<name>``, n as in ``cuda:n``."""


class Gpus:
    """What NVML says, of the GPUs in ``CUDA_VISIBLE_DEVICES`` or of all; nothing where there is no GPU or no driver."""

    def __init__(self, notices: Notices) -> None:
        """Import NVML's package, ``nvidia-ml-py``; where it is absent and PyTorch uses a GPU, that is told."""
        self._handles: list[Any] | None = None
        try:
            self._nvml: Any = optional("pynvml", extra="gpu", purpose="the GPU's load")
        except MissingExtraError as error:
            self._nvml = None
            if _in_use():
                notices.once("nvml", "%s", error)

    def sample(self) -> dict[str, float]:
        """Give the numbers by name."""
        if self._handles is None:
            self._handles = list(self._open())
        return {f"gpu/{number}/{name}": value for number, gpu in enumerate(self._handles) for name, value in self._read(gpu)}

    def _open(self) -> Iterator[Any]:
        nvml = self._nvml
        if nvml is None:
            return
        try:
            nvml.nvmlInit()
        except nvml.NVMLError:    # no driver, no GPU
            return
        for name in visible(os.environ.get("CUDA_VISIBLE_DEVICES"), nvml.nvmlDeviceGetCount()):
            yield nvml.nvmlDeviceGetHandleByIndex(name) if isinstance(name, int) else nvml.nvmlDeviceGetHandleByUUID(name)

    def _read(self, gpu: Any) -> Iterator[tuple[str, float]]:
        for name, read in READINGS.items():
            try:
                value = float(read(self._nvml, gpu))
            except self._nvml.NVMLError:    # this model, or this driver, does not tell
                continue
            yield name, value


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


def _in_use() -> bool:
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    return cuda is not None and bool(cuda.is_initialized())
