"""The rules that are known."""

from __future__ import annotations

from summarykit.profiler.advice.advice import Rule
from summarykit.registry import Registry

RULES: Registry[Rule] = Registry(
    "advice",
    {
        "data_wait": "summarykit.profiler.advice.data_wait",
        "communication": "summarykit.profiler.advice.communication",
        "gpu_utilization": "summarykit.profiler.advice.gpu_utilization",
        "device_memory": "summarykit.profiler.advice.device_memory",
        "straggler": "summarykit.profiler.advice.straggler",
        "mindinsight": "summarykit.profiler.advice.mindinsight",
    },
)
