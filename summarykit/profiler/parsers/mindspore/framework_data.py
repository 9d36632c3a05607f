"""``mindspore.memory_usage`` and ``mindspore.record_shapes``: memory, and operators' inputs, as typed records of MindSpore 2.10.

Source of the layouts: ``report_data.h``, ``ascend_op_memory_viewer.py`` and ``ms_operator_details_viewer.py`` of that package.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from summarykit.profiler.parsers.mindspore import tlv
from summarykit.profiler.parsers.rows import table
from summarykit.profiler.recording import Table

_MEMORY = struct.Struct("<i11QI4B")
_FREED = 2**64 - 1
_OWNER = 13
_NAME, _SHAPES, _TYPES = range(3)
_MOST = 2**62


def memory(path: Path, skipped: Counter[str]) -> Table:
    """Each block of a device's memory that was taken or given back.

    Returns:
        By time: ``time`` (ns), ``device``, ``bytes`` (negative where given back; 0 where nobody told of its taking), ``allocated`` and
        ``reserved`` (bytes, float64), ``name`` (of the operator that took it).
    """
    held: dict[tuple[int, int], int] = {}
    rows = []
    for time, device, address, size, used, pool, name in sorted(_blocks(path, skipped), key=itemgetter(0)):
        change = -held.pop((device, address), 0) if size == _FREED else size
        if size != _FREED:
            held[device, address] = size
        rows.append((time, device, change, used, pool, name))
    return table(rows, time=int, device=int, bytes=float, allocated=float, reserved=float, name=object)


def _blocks(path: Path, skipped: Counter[str]) -> Iterator[tuple[int, int, int, int, int, int, str]]:
    for value in tlv.values([path], skipped):
        if len(value) < _MEMORY.size:
            skipped["blocks of memory that are too short"] += 1
            continue
        device, _, _, time, address, size, used, _, pool, *_ = _MEMORY.unpack_from(value)
        if max(time, used, pool) >= _MOST or _MOST <= size < _FREED:
            skipped["blocks of memory with impossible numbers"] += 1
            continue
        owner = dict(tlv.texts(value, _MEMORY.size)).get(_OWNER, "")
        yield time, device, address, size, used, pool, owner


def shapes(path: Path, skipped: Counter[str]) -> Table:
    """Which inputs operators had.

    Returns:
        A row for each operator and kind of inputs: ``name``, ``shapes`` and ``types`` (as MindSpore writes them), ``count`` of calls.
    """
    told = (dict(tlv.texts(value, 0)) for value in tlv.values([path], skipped))
    calls = Counter((texts.get(_NAME, "?"), texts.get(_SHAPES, ""), texts.get(_TYPES, "")) for texts in told)
    rows = [(*inputs, count) for inputs, count in calls.items()]
    return table(rows, name=object, shapes=object, types=object, count=int)
