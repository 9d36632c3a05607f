"""``hwts.log.data.45.dev.profiler_default_tag.<device>.slice_<n>``: the log of the hardware's task scheduler.

Records of 64 bytes, little endian, without a header: type and rolling count, core, a constant, block, task, time in ticks, stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.ascend.binary import packed, records
from summarykit.shapes import Array, Ints

TASK_START, TASK_END, BLOCK_START, BLOCK_END, BLOCK_PMU = range(5)
TITLES = ("Start of task", "End of task", "Start of block", "End of block", "Block PMU")
MAGIC = 0x6BD3     # in every captured record; a file that begins otherwise is of another version, and not judged by it
LAYOUT = packed(
    64, head=("u1", 0), core=("u1", 1), magic=("<u2", 2), block=("<u2", 4), task=("<u2", 6), time=("<i8", 8), stream=("<u4", 16),
    pmu_time=("<i8", 24),
)
_WHITE = np.isin(np.arange(256), list(b" \t\n\r\v\f"))


@dataclass(frozen=True, eq=False)
class Block:
    """Some records, as columns of one length.

    Attributes:
        kind: uint8, 0 to 4, see ``TITLES``.
        count: uint8, 0 to 15, rolling: a gap says that records were lost.
        core: uint8.
        block: uint16.
        task: uint16.
        time: int64 ticks of 10 ns; -1 where a PMU record does not know it.
        stream: uint32.
    """

    kind: Array
    count: Array
    core: Array
    block: Array
    task: Array
    time: Ints
    stream: Array

    def __len__(self) -> int:
        return len(self.kind)


def read(paths: list[Path], skipped: Counter[str]) -> Iterator[Block]:
    """The records of a device, block by block.

    Args:
        paths: its slices in order.
        skipped: gets counts of what is no record, and of the records that the device lost before it wrote them.
    """
    magic, last = None, None
    for raw in records(paths, LAYOUT, skipped, "hwts"):
        if last is None:
            magic = MAGIC if raw["magic"][0] == MAGIC else None
        block = _columns(raw, magic, skipped)
        last = _count_lost(block.count, last, skipped)
        yield block


def _columns(raw: Array, magic: int | None, skipped: Counter[str]) -> Block:
    kind = raw["head"] & 7
    keep = kind <= BLOCK_PMU
    skipped["hwts records of an unknown type"] += int(len(raw) - keep.sum())
    if magic is not None:
        foreign = raw["magic"] != magic
        skipped["hwts records that are damaged"] += int((foreign & keep).sum())
        keep &= ~foreign
    else:
        keep &= ~_blank(raw)
    raw, kind = (raw, kind) if keep.all() else (raw[keep], kind[keep])
    return Block(kind, raw["head"] >> 4, raw["core"], raw["block"], raw["task"], _times(raw, kind), raw["stream"])


def _times(raw: Array, kind: Array) -> Ints:
    times = np.ascontiguousarray(raw["time"])
    measured = kind == BLOCK_PMU
    if measured.any():
        times = np.where(measured, np.where(raw["head"] & 8, -1, raw["pmu_time"]), times)
    return times


def _blank(raw: Array) -> Array:
    """Records of nothing but white space, which upstream steps over, too."""
    blank: Array = _WHITE[raw["head"]]
    places = np.flatnonzero(blank)
    if len(places):
        blank[places] = _WHITE[raw.view(np.uint8).reshape(len(raw), LAYOUT.itemsize)[places]].all(axis=1)
    return blank


def _count_lost(counts: Array, last: int | None, skipped: Counter[str]) -> int | None:
    if not len(counts):
        return last
    first = counts[:1] if last is None else np.array([last], np.uint8)
    gaps = (np.diff(counts, prepend=first) - 1) & 15
    skipped["hwts records lost by the device, at least"] += int(gaps[1 if last is None else 0 :].sum())
    return int(counts[-1])
