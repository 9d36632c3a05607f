"""``step_trace_profiling_<device>.txt``: MindSpore's steps on a GPU.

One layout has a line an operator, ``name start,end start,end …`` in units of 10 ns: the first operator of the forward pass, the last of the
backward pass, the last of the step, then communication. The other (``mindrt``) has a line a step, ``name,time`` for the start and these
three, ``name,start,end`` for communication; its times are nanoseconds, which MindSpore's own parser turns into 10 ns by cutting a digit.
No capture of either is public.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.parsers.ascend.files import text
from summarykit.profiler.parsers.rows import each, int64, table
from summarykit.profiler.recording import Recording, Spans, Table
from summarykit.shapes import Ints

_NAME = re.compile(r"step_trace_profiling_(\d+)\.txt(?:\.gz)?$")
_TICK = 10


def sniff(path: Path) -> bool:
    """Whether it is such a file."""
    return bool(_NAME.match(path.name)) and path.is_file()


def parse(path: Path) -> list[Recording]:
    """Read the steps of one device.

    Returns:
        A recording without spans: tables ``steps`` and ``reduces`` (step, stream, index, tag int64, name object, start, end int64 ns), and
        ``points`` in ``meta``.

    Raises:
        OSError: the file cannot be read.
    """
    skipped: Counter[str] = Counter()
    device = int(_NAME.match(path.name)[1]) if _NAME.match(path.name) else 0    # type: ignore[index]  # it matched a moment ago
    lines = [line for line in text([path], skipped).splitlines() if line.strip()]
    told = _asynchronous(lines, skipped) if lines and _is_by_step(lines[0]) else _synchronous(lines, skipped)
    tables = {name: each_ for name, each_ in zip(("steps", "reduces"), told[:2], strict=True) if each_.rows}
    return [Recording("gpu", path, _nothing(), tables, rank=device, meta={"device": device, "points": told[2]}, skipped=+skipped)]


def _nothing() -> Spans:
    none = np.zeros(0, np.int64)
    return Spans(none, none, none.astype(np.int32), none.astype(np.uint8), none.astype(np.int32), none)


def _is_by_step(line: str) -> bool:
    """Its first word has a name and a time; of a line an operator it is a name."""
    return "," in line.split()[0]


def _synchronous(lines: list[str], skipped: Counter[str]) -> tuple[Table, Table, dict[int, str]]:
    read = list(each(lines, _operator, skipped, "lines of step_trace_profiling"))
    if len(read) < 3:
        skipped["files of steps without a start, an end of the backward pass and an end"] += 1
        return *_tables([], []), {}
    count = min(len(times) for _, times in read)
    skipped["runs of operators of unfinished steps"] += sum(len(times) - count for _, times in read)
    (forward, fp), (backward, bp), (_, ends) = ((name, times[:count]) for name, times in read[:3])
    start = np.concatenate([fp[:1, 0], ends[:-1, 1]]) * _TICK
    steps = [np.arange(1, count + 1), start, ends[:, 1] * _TICK, fp[:, 0] * _TICK, bp[:, 1] * _TICK]
    reduces = [
        (step + 1, 0, index, 0, name, int(times[step, 0]) * _TICK, int(times[step, 1]) * _TICK)
        for step in range(count) for index, (name, times) in enumerate(read[3:])
    ]
    return *_tables(list(zip(*(column.tolist() for column in steps), strict=True)), reduces), {1: forward, 2: backward}


def _operator(line: str) -> tuple[str, Ints]:
    name, *runs = line.split()
    times = [[int64(part) for part in run.split(",")] for run in runs]
    return name, np.array(times, np.int64).reshape(-1, 2)


def _asynchronous(lines: list[str], skipped: Counter[str]) -> tuple[Table, Table, dict[int, str]]:
    steps, reduces, points = [], [], {}
    for number, (marks, communication) in enumerate(each(lines, _step, skipped, "lines of step_trace_profiling"), start=1):
        (_, start), (forward, fp), (backward, bp), (_, end) = marks
        points.update({1: forward, 2: backward})
        steps.append((number, start, end, fp, bp))
        reduces += [(number, 0, index, 0, name, begin, finish) for index, (name, begin, finish) in enumerate(communication)]
    return *_tables(steps, reduces), points


def _step(line: str) -> tuple[list[tuple[str, int]], list[tuple[str, int, int]]]:
    words = [word.split(",") for word in line.split()]
    marks = [(name, int(time)) for name, time in words[:4]]
    if len(marks) < 4 or max(time for _, time in marks) >= 2**62:
        raise ValueError("a step has a start, a forward pass, a backward pass and an end")
    return marks, [(name, int(start), int(end)) for name, start, end in words[4:]]


def _tables(steps: list[tuple[Any, ...]], reduces: list[tuple[Any, ...]]) -> tuple[Table, Table]:
    return (
        table(steps, step=int, start=int, end=int, fp_start=int, bp_end=int),
        table(reduces, step=int, stream=int, index=int, tag=int, name=object, start=int, end=int),
    )
