"""The collectors, in the order in which they are started; they are stopped in the reverse order."""

from __future__ import annotations

from summarykit.profiler.collectors.collector import Collector
from summarykit.registry import Registry

_HERE = "summarykit.profiler.collectors"

COLLECTORS: Registry[type[Collector]] = Registry(
    "profiler_collectors",
    {
        "mindspore": f"{_HERE}.mindspore:MindSporeProfiler",
        "jax": f"{_HERE}.jax:JaxTrace",
        "kineto": f"{_HERE}.kineto:Kineto",
        "system": f"{_HERE}.system:System",
        "gpu": f"{_HERE}.gpu:Gpu",
        "cuda_memory": f"{_HERE}.cuda_memory:CudaMemory",
        "gc": f"{_HERE}.garbage:Garbage",
        "stacks": f"{_HERE}.stacks:Stacks",
        "pipeline": f"{_HERE}.stages:Stages",
        "input": f"{_HERE}.loader:Loader",
        "torch": f"{_HERE}.torch_phases:TorchPhases",
        "sync": f"{_HERE}.syncs:Syncs",
        "communication": f"{_HERE}.communication:Communication",
        "logging": f"{_HERE}.log_calls:LogCalls",
    },
)
