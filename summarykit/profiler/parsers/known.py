"""The formats that are known, in the order in which they are tried: those that own a whole directory first."""

from __future__ import annotations

from summarykit.profiler.parsers.parser import Parser
from summarykit.registry import Registry

PARSERS: Registry[Parser] = Registry(
    "parsers",
    {
        "records": "summarykit.profiler.parsers.records",
        "derived": "summarykit.profiler.parsers.derived",
        "msprof": "summarykit.profiler.parsers.ascend.msprof",
        "ascend": "summarykit.profiler.parsers.ascend",
        "mindspore": "summarykit.profiler.parsers.mindspore",
        "gpu_step_trace": "summarykit.profiler.parsers.gpu_step_trace",
        "xplane": "summarykit.profiler.parsers.xplane",
        "jax": "summarykit.profiler.parsers.jax",
        "memory_timeline": "summarykit.profiler.parsers.memory_timeline",
        "kineto": "summarykit.profiler.parsers.kineto",
        "chrome": "summarykit.profiler.parsers.chrome",
    },
)
