"""A stand-in for NVML's package."""

from __future__ import annotations

import types


class Nvml(types.ModuleType):
    """NVML's package, of a machine with two GPUs; the second does not tell its power."""

    NVML_TEMPERATURE_GPU = 0

    class NVMLError(Exception):
        pass

    def __init__(self, driver=True):
        super().__init__("pynvml")
        self.driver = driver

    def nvmlInit(self):
        if not self.driver:
            raise self.NVMLError("no driver")

    nvmlDeviceGetName = staticmethod(lambda gpu: f"model {gpu}")
    nvmlDeviceGetCount = staticmethod(lambda: 2)
    nvmlDeviceGetHandleByIndex = staticmethod(int)
    nvmlDeviceGetHandleByUUID = staticmethod(lambda uuid: {"GPU-b": 1}[uuid])
    nvmlDeviceGetUtilizationRates = staticmethod(lambda gpu: types.SimpleNamespace(gpu=50 + gpu))
    nvmlDeviceGetMemoryInfo = staticmethod(lambda gpu: types.SimpleNamespace(used=3_000_000 * (gpu + 1), total=8_000_000))
    nvmlDeviceGetTemperature = staticmethod(lambda gpu, sensor: 40 + gpu)

    def nvmlDeviceGetPowerUsage(self, gpu):
        if gpu == 1:
            raise self.NVMLError("not supported")
        return 70_000
