"""``DATA_PREPROCESS[.dev].AICPU.<device>.slice_<n>`` and ``…AICPUMI…``: what ran on the AI CPU, as text or as binary records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.ascend import binary
from summarykit.profiler.parsers.ascend.files import pieces, text
from summarykit.profiler.parsers.ascend.framework import UNIQUE_FROM, Framework, short
from summarykit.profiler.parsers.rows import each, int64, objects, table
from summarykit.profiler.recording import Table

BINARY_MARK = b"\x5a\x5a"
LAYOUT = binary.packed(
    128, stream=("<u2", 4), task=("<u2", 6), run_start=("<u8", 8), run_start_counter=("<u8", 16), compute_start=("<u8", 24),
    memcpy_start=("<u8", 32), memcpy_end=("<u8", 40), run_end=("<u8", 48), run_end_counter=("<u8", 56), thread=("<u4", 64),
    device=("<u4", 68), submit=("<u8", 72), schedule=("<u8", 80), before_run=("<u8", 88), after_run=("<u8", 96), kernel_type=("<u4", 104),
    dispatch_time=("<u4", 108), total_time=("<u4", 112), ffts_thread=("<u2", 116), version=("u1", 118),
)
# "Run tart" is what the device writes; the number behind a blank is a counter of newer versions.
_NODE = re.compile(r"Node:(?P<name>[^,]+), ?Run s?tart:(?P<start>\d+)(?: (?P<counter>\d+))?,.*?Run end:(?P<end>\d+)", re.DOTALL)
_THREAD = re.compile(r"dispatchTime=(?P<dispatch>\d+) us, *totalTime=(?P<total>\d+) us")
_QUEUE = re.compile(r"Node:(?P<name>[^,]+), ?Run start:(?P<start>\d+), ?Run end:(?P<end>\d+), ?queue size:(?P<size>\d+)")
_PUSH = re.compile(r"\[(?P<time>\d+)\] Enqueue data to dp, source:(?P<source>[^,]+), index:(?P<index>\d+), size:(?P<size>\d+)")
_ALONE = "AI CPU records without their partner"
_COLUMNS: dict[str, type] = {"name": object, "start": int, "end": int, "total": float, "dispatch": float}


def read(paths: list[Path], framework: Framework, skipped: Counter[str]) -> Table:
    """Read what ran on the AI CPU of one device.

    Args:
        paths: slices in order.
        framework: names the operators of binary records.
        skipped: gets counts of what has no partner.

    Returns:
        Columns: name (object), start, end (int64 µs), total, dispatch (float64 ms).
    """
    if not paths:
        return table([], **_COLUMNS)
    marked = next(pieces(paths[:1], Counter(), len(BINARY_MARK)), b"") == BINARY_MARK
    return _read_binary(paths, framework, skipped) if marked else table(_pairs(_parts(paths, skipped), skipped), **_COLUMNS)


def _parts(paths: list[Path], skipped: Counter[str]) -> list[str]:
    return [part for part in text(paths, skipped).replace("\n\0", "\0").split("\0") if part.strip()]


def _pairs(parts: list[str], skipped: Counter[str]) -> Iterator[tuple[str, int, int, float, float]]:
    """A node is followed by the thread that ran it."""
    node: re.Match[str] | None = None
    for part in parts:
        thread = _THREAD.search(part)
        if node and thread:
            yield from each([(node, thread)], _row, skipped, "AI CPU records")
            node = None
            continue
        waiting, node = node, _NODE.search(part)
        skipped[_ALONE] += (waiting is not None) + (node is None)
    skipped[_ALONE] += node is not None


def _row(pair: tuple[re.Match[str], re.Match[str]]) -> tuple[str, int, int, float, float]:
    node, thread = pair
    total, dispatch = (int64(thread[name]) / 1000 for name in ("total", "dispatch"))
    return _kind(node["name"]), int64(node["start"]), int64(node["end"]), total, dispatch


def _kind(name: str) -> str:
    """``TruncatedNormal`` of ``Default/TruncatedNormal-op0``."""
    return name.rsplit("/", 1)[-1].split("-", 1)[0]


def _read_binary(paths: list[Path], framework: Framework, skipped: Counter[str]) -> Table:
    rows = binary.table(paths, LAYOUT, skipped, "AI CPU")
    rows = rows[rows["task"] < UNIQUE_FROM]
    found = framework.find(rows["stream"], rows["task"])
    skipped["AI CPU tasks that the framework does not name"] += int((found < 0).sum())
    rows, found = rows[found >= 0], found[found >= 0]
    names = [short(framework.names[index]) for index in found]
    start, end = (rows[name].astype(np.int64) // 100 for name in ("run_start_counter", "run_end_counter"))
    return Table(name=objects(names), start=start, end=end, total=rows["total_time"] / 1000, dispatch=rows["dispatch_time"] / 1000)


def queue(paths: list[Path], skipped: Counter[str]) -> Table:
    """What ``GetNext`` found in the queue of the device: columns name (object), start, end (int64 µs), size (int64)."""
    return table(each(_parts(paths, skipped), _queue_row, skipped, "AICPUMI records"), name=object, start=int, end=int, size=int)


def _queue_row(part: str) -> tuple[str, int, int, int]:
    name, *numbers = _matched(_QUEUE, part)
    start, end, size = map(int64, numbers)
    return name, start, end, size


def pushes(paths: list[Path], skipped: Counter[str]) -> Table:
    """``DATA_PREPROCESS.dev.TDT…``: when the host pushed which batch: columns time (int64 µs), index, size (int64), source (object)."""
    return table(each(_parts(paths, skipped), _push_row, skipped, "TDT records"), time=int, index=int, size=int, source=object)


def _push_row(part: str) -> tuple[int, int, int, str]:
    time, source, index, size = _matched(_PUSH, part)
    return int64(time), int64(index), int64(size), source


def _matched(pattern: re.Pattern[str], part: str) -> tuple[str, ...]:
    match = pattern.search(part)
    if match is None:
        raise ValueError(f"no record: {part!r}")
    return match.groups()
