"""The rules that are known."""

from __future__ import annotations

from summarykit.profiler.advice.advice import Rule
from summarykit.registry import Registry

RULES: Registry[Rule] = Registry(
    "advice",
    {
        "data_wait": "summarykit.profiler.advice.data_wait",
        "single_threaded": "summarykit.profiler.advice.single_threaded",
        "sync": "summarykit.profiler.advice.sync",
        "tiny_batches": "summarykit.profiler.advice.tiny_batches",
        "logging": "summarykit.profiler.advice.logging",
        "gc": "summarykit.profiler.advice.garbage",
        "compilation": "summarykit.profiler.advice.compilation",
        "first_steps": "summarykit.profiler.advice.first_steps",
        "both_idle": "summarykit.profiler.advice.both_idle",
        "precision": "summarykit.profiler.advice.precision",
        "host_saturated": "summarykit.profiler.advice.host_saturated",
        "fragmentation": "summarykit.profiler.advice.fragmentation",
        "parallel": "summarykit.profiler.advice.parallel",
        "communication": "summarykit.profiler.advice.communication",
        "gpu_utilization": "summarykit.profiler.advice.gpu_utilization",
        "device_memory": "summarykit.profiler.advice.device_memory",
        "straggler": "summarykit.profiler.advice.straggler",
        "mindinsight": "summarykit.profiler.advice.mindinsight",
        "cluster": "summarykit.profiler.advice.cluster",
    },
)
