"""One device of an Ascend job: everything its raw files say, as one recording."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.ascend import (
    aicore,
    aicpu,
    framework_binary,
    framework_text,
    hccl,
    host_start,
    hwts,
    memory,
    training_trace,
)
from summarykit.profiler.parsers.ascend.device_info import json_object, numbers
from summarykit.profiler.parsers.ascend.files import JobFiles
from summarykit.profiler.parsers.ascend.flips import widened
from summarykit.profiler.parsers.ascend.framework import Framework
from summarykit.profiler.parsers.ascend.kernels import Kernels
from summarykit.profiler.parsers.ascend.op_times import OpTimes
from summarykit.profiler.parsers.ascend.pairing import Pairing
from summarykit.profiler.parsers.ascend.ticks import NANOSECONDS_PER_TICK
from summarykit.profiler.parsers.mindspore import dataset
from summarykit.profiler.parsers.rows import objects, table
from summarykit.profiler.recording import Recording, Table


def read(files: JobFiles, device: int, path: Path) -> Recording:
    """Read one device.

    Args:
        files: of the job.
        device: its number.
        path: of the job.

    Returns:
        Spans: what ran on the device (``KERNEL``, by stream) and on the AI CPU (``HOST_OP``).
        Tables beside the common ones: ``framework`` (see ``Framework.table``), ``reduces`` (communication: step, stream, index, tag int64,
        name object, start, end int64 ns), ``aicpu``, ``device_queue``, ``queue_pushes`` (see ``aicpu``), ``flops`` (see ``aicore``),
        ``graph_memory`` (graph int64, node object, used int64 bytes), ``communication`` (see ``hccl.rounds``), and those of the dataset
        (see ``mindspore.dataset``).
        ``operators`` has, beside the true count, total and average (ms), what MindSpore's own parser says: compat_count and compat_average;
        its rows are in the order of first runs. ``meta``: device, points (tag -> operator), min_cycle (ticks; None where nothing ran),
        memory_capacity (bytes; 0 where not told), aic_frequency, ai_core_num (where told).
    """
    skipped: Counter[str] = Counter()
    framework = _framework(files, device, skipped)
    times, kernels = _kernels(files, device, framework, skipped)
    trace = training_trace.read(files.slices(device, "training_trace"), skipped, skip_first=framework.skips_first_step)
    cpu = aicpu.read(files.slices(device, "aicpu"), framework, skipped)
    if cpu.rows:
        kernels.feed_cpu(cpu)
    graph_memory, capacity = _memory(files.slices(device, "memory"), skipped)
    tables = {
        "steps": _in_nanoseconds(trace.steps), "reduces": _named(_in_nanoseconds(trace.reduces), framework), "framework": framework.table(),
        "operators": _operators(times, framework), "aicpu": cpu, "device_queue": aicpu.queue(files.slices(device, "aicpu_queue"), skipped),
        "queue_pushes": aicpu.pushes(files.slices(device, "tdt"), skipped),
        "flops": aicore.read(files.slices(device, "aicore"), framework, skipped),
        "graph_memory": graph_memory,
        "communication": hccl.rounds(path / f"hccl_info_{device}", skipped),
        **dataset.tables(path, device, skipped),
    }
    return Recording(
        "ascend", path, kernels.spans(device), {name: each for name, each in tables.items() if each.rows}, rank=device,
        clock_offset=host_start.clock_offset(files.slices(device, "host_start"), skipped),
        meta={"device": device, "points": framework.points, "min_cycle": times.min_cycle, "memory_capacity": capacity,
              **numbers(json_object(path / f"info.json.{device}", skipped))},
        skipped=+skipped,
    )


def _framework(files: JobFiles, device: int, skipped: Counter[str]) -> Framework:
    task, tensor, step, hashes = (files.slices(device, kind) for kind in ("task_desc_binary", "tensor_data", "step_info", "hash_dic"))
    if task:
        return framework_binary.read(task, tensor, step, hashes, skipped)
    task, graph, point = (files.slices(device, kind) for kind in ("task_desc", "graph_desc", "point"))
    return framework_text.read(task, graph, point, skipped)


def _kernels(files: JobFiles, device: int, framework: Framework, skipped: Counter[str]) -> tuple[OpTimes, Kernels]:
    times, pairing, kernels = OpTimes(framework), Pairing(skipped), Kernels(framework)
    blocks = hwts.read(files.slices(device, "hwts"), skipped)
    for block in widened(blocks) if framework.counts_on else blocks:
        times.feed(block)
        kernels.feed(pairing.feed(block))
    pairing.close()
    return times, kernels


def _in_nanoseconds(table: Table) -> Table:
    timed = ("start", "end", "fp_start", "bp_end")
    return Table({name: column * NANOSECONDS_PER_TICK if name in timed else column for name, column in table.items()})


def _named(reduces: Table, framework: Framework) -> Table:
    """With the type of the communication operator at each point, ``parallel`` where none is known."""
    names = [framework.points.get(tag, "parallel").rsplit("/", 1)[-1].split("-")[0] for tag in reduces["tag"].tolist()]
    return Table({**reduces, "name": objects(names)})


def _operators(times: OpTimes, framework: Framework) -> Table:
    order = times.order()
    types = framework.types()
    names = [framework.names[index] for index in order]
    total, runs = times.total[order], times.runs[order]
    return Table(
        name=objects(names), type=objects([types[name] for name in names]), side=objects(["device"] * len(names)), count=runs, total=total,
        average=total / np.maximum(runs, 1), stream=times.stream[order], compat_count=times.counted[order],
        compat_average=times.average[order],
    )


def _memory(paths: list[Path], skipped: Counter[str]) -> tuple[Table, int]:
    graphs, capacity = memory.read(paths, skipped)
    rows = [(graph.graph, name, used) for graph in graphs for name, used in zip(graph.nodes["name"], graph.used().tolist(), strict=True)]
    return table(rows, graph=int, node=object, used=int), capacity
