"""NVIDIA's GPUs, as far as this process may see them."""

from __future__ import annotations

import sys

from summarykit import nvml
from summarykit.errors import MissingExtraError
from summarykit.notices import Notices

NAMES = {
    "utilization": ("utilization_percent", 1.0),
    "memory": ("memory_used_mb", 1e6),
    "power": ("power_watts", 1.0),
    "temperature": ("temperature_celsius", 1.0),
}
"""What each of ``nvml.READINGS`` is called, ``gpu/<n>/<name>`` with n as in ``cuda:n``, and what it is divided by."""


class Gpus:
    """What NVML says, of the GPUs in ``CUDA_VISIBLE_DEVICES`` or of all; nothing where there is no GPU or no driver."""

    def __init__(self, notices: Notices) -> None:
        """Import NVML's package, ``nvidia-ml-py``; where it is absent and PyTorch uses a GPU, that is told."""
        try:
            self._gpus: nvml.Gpus | None = nvml.Gpus("the GPU's load")
        except MissingExtraError as error:
            self._gpus = None
            if _in_use():
                notices.once("nvml", "%s", error)

    def sample(self) -> dict[str, float]:
        """Give the numbers by name."""
        found = self._gpus.read() if self._gpus is not None else ()
        return {f"gpu/{number}/{NAMES[name][0]}": value / NAMES[name][1] for number, name, value in found}


def _in_use() -> bool:
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    return cuda is not None and bool(cuda.is_initialized())
