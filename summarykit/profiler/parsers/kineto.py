"""Traces of ``torch.profiler`` (Kineto), of all vintages: the words of 2021, those of today, NVIDIA's and AMD's.

Source: libkineto's ``output_json.cpp`` and ``ActivityType.cpp``; torch 1.8 to 2.13.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.parsers.files import beginning
from summarykit.profiler.parsers.trace import Trace, steps_of
from summarykit.profiler.parsers.trace_kinds import Kind
from summarykit.profiler.parsers.trace_wanted import Wanted
from summarykit.profiler.recording import Category, Recording, Spans, Table

_WORDS = {
    "operator": Kind(Category.HOST_OP),
    "cpu_op": Kind(Category.HOST_OP),
    "runtime": Kind(Category.RUNTIME),
    "kernel": Kind(Category.KERNEL, device=True),
    "memcpy": Kind(Category.MEMCPY, device=True),
    "gpu_memcpy": Kind(Category.MEMCPY, device=True),
    "memset": Kind(Category.MEMSET, device=True),
    "gpu_memset": Kind(Category.MEMSET, device=True),
    "cuda_sync": Kind(Category.RUNTIME, device=True),
    "gpu_user_annotation": Kind(Category.USER, device=True),
    "user_annotation": Kind(Category.USER),
    "python": Kind(Category.PYTHON),
    "python_function": Kind(Category.PYTHON),
    "overhead": Kind(Category.OVERHEAD),
}
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")
_DATA = re.compile(r"enumerate\(Data(Loader|Pipe)\)#")
_COLLECTIVE = re.compile(r"(nccl|gloo|mpi|ucc|hccl|xccl|c10d|record_param_comms)\b[:_]?", re.IGNORECASE)
_COLLECTIVE_KERNEL = re.compile(r"(nccl|rccl).*kernel", re.IGNORECASE)
_MARKS = (b'"schemaVersion"', b'"deviceProperties"', b'"distributedInfo"', b'"External id"', b'"cpu_op"', b'"user_annotation"')
_WANTED = Wanted(
    instant="[memory]",
    instant_arguments=("Bytes", "Total Allocated", "Total Reserved", "Device Type", "Device Id"),
    measured=Category.KERNEL,
    measures=("device", "est. achieved occupancy %", "blocks per SM"),
    detailed=Category.COMMUNICATION,
    details=("Collective name", "Process Group Name", "Process Group Ranks", "Seq", "Rank", "Group size"),
)


def sniff(path: Path) -> bool:
    """Whether a file of JSON has one of Kineto's own words in its first 64 kB."""
    text = beginning(path, 1 << 16)
    is_trace = text.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") and (b'"ph"' in text or b'"schemaVersion"' in text)
    return is_trace and any(mark in text for mark in _MARKS)


def parse(path: Path) -> list[Recording]:
    """Read a trace: one recording. Its ``meta`` has, besides what the trace says of itself, ``words``: the categories in it.

    Raises:
        OSError: the file cannot be opened.
    """
    trace = Trace(path, classify, _WANTED)
    spans, about = trace.spans(), _distributed(trace.meta)
    tables = {
        "steps": _steps(spans),
        "memory": _memory(trace.instants()),
        "kernels": _kernels(trace.measures()),
        "collectives": _collectives(trace.details),
        "counters": trace.counters(),
    }
    return [
        Recording(
            "kineto",
            path,
            spans,
            {name: table for name, table in tables.items() if table.rows},
            rank=about.get("rank", 0),
            world_size=max(1, about.get("world_size", 1)),
            clock_offset=_clock_offset(trace.meta),
            meta={**trace.meta, "words": trace.words},
            skipped=trace.skipped,
        )
    ]


def classify(word: str, name: str) -> Kind:
    """What a span is, by Kineto's category and its name."""
    kind = _WORDS.get(word.lower()) or _by_vendor(word.lower())
    if kind.category in (Category.USER, Category.HOST_OP) and not kind.device:
        return Kind(_by_name(name) or kind.category)
    if kind.category == Category.KERNEL and _COLLECTIVE_KERNEL.match(name):
        return Kind(Category.COMMUNICATION, device=True)
    return kind


def _by_vendor(word: str) -> Kind:
    """Such as ``cuda_runtime``, ``hip_driver``, ``xpu_runtime``."""
    return Kind(Category.RUNTIME if word.endswith(("_runtime", "_driver")) else Category.OTHER)


def _by_name(name: str) -> Category | None:
    if _STEP.match(name):
        return Category.STEP
    if _DATA.match(name):
        return Category.DATA
    return Category.COMMUNICATION if _COLLECTIVE.match(name) else None


def _steps(spans: Spans) -> Table:
    number = np.array([int(found.group(1)) if (found := _STEP.match(name)) else -1 for name in spans.names] or [-1])
    chosen = np.flatnonzero(spans.of(Category.STEP))
    return steps_of(spans, chosen, number[spans.name[chosen]])


def _memory(found: Table) -> Table:
    device = np.where(found["Device Type"] == 0, -1, found["Device Id"])
    number = np.nan_to_num(device, nan=-1).astype(np.int64)
    sizes = {"bytes": found["Bytes"], "allocated": found["Total Allocated"], "reserved": found["Total Reserved"]}
    return Table(time=found["time"], device=number, **sizes)


def _kernels(found: Table) -> Table:
    names = {"device": "device", "occupancy": "est. achieved occupancy %", "blocks_per_sm": "blocks per SM"}
    return Table(span=found["span"], **{name: found[argument] for name, argument in names.items()})


def _collectives(details: dict[int, dict[str, Any]]) -> Table:
    """``span``, ``name`` of the collective, ``group`` of processes and ``sequence`` number (-1 where the writer gave none)."""
    found = list(details.values())
    return Table(
        span=np.array(list(details), np.int64),
        name=np.array([str(each["Collective name"] or "") for each in found], object),
        group=np.array([str(each["Process Group Name"] or "") for each in found], object),
        sequence=np.array([each["Seq"] if _is_number(each["Seq"]) else -1 for each in found], np.int64),
    )


def _clock_offset(meta: dict[str, Any]) -> int | None:
    """Times were the epoch's until 2024; since then they count from a base."""
    found = meta.get("baseTimeNanoseconds", 0)
    return found if _is_number(found) else None


def _distributed(meta: dict[str, Any]) -> dict[str, int]:
    found = meta.get("distributedInfo")
    return {key: value for key, value in found.items() if _is_number(value)} if isinstance(found, dict) else {}


def _is_number(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63
