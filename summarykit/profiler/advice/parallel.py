"""Several devices are fed in a way that wastes them: one process for all of them, or a library that goes through the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.analysis.report import Report

_KEPLER = (3, 5)


def check(report: Report) -> Iterator[Advice]:
    """The two rules of torch-tb-profiler."""
    for profile in report.last[:1]:
        names, devices = set(profile.recording.spans.names), profile.devices.rows
        if "DataParallel.forward" in names and devices > 1:
            yield Advice(
                rule="data_parallel",
                title=f"DataParallel drives {devices} devices from one process",
                evidence="each step copies the model to all devices and collects their outputs on the first",
                change="DistributedDataParallel, a process a device: torchrun --nproc_per_node=...",
                check="as many ranks as devices, and no copies of the model within a step",
                confidence="high",
            )
        backend = _backend(profile.recording.meta)
        wrapped = "DistributedDataParallel.forward" in names and devices
        if wrapped and backend not in ("", "nccl") and _could_use_nccl(profile.recording.meta):
            yield Advice(
                rule="nccl",
                title=f"DistributedDataParallel on GPUs reduces its gradients by {backend}",
                evidence="that goes through the host's memory; these GPUs can use NCCL",
                change='init_process_group(backend="nccl")',
                check="collectives among the kernels of the device",
                confidence="high",
            )


def _backend(meta: dict[str, Any]) -> str:
    found = meta.get("distributedInfo")
    return str(found.get("backend", "")).lower() if isinstance(found, dict) else ""


def _could_use_nccl(meta: dict[str, Any]) -> bool:
    found = meta.get("deviceProperties")
    devices = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    able = [(each.get("computeMajor", 0), each.get("computeMinor", 0)) >= _KEPLER for each in devices]
    return bool(able) and all(able)
