"""Writes recordings as one Chrome trace that Perfetto and ``chrome://tracing`` open: streamed, packed, all ranks on one clock.

Source of the format: "Trace Event Format", Google, 2016.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from itertools import count
from typing import IO

import numpy as np

from summarykit.profiler.recording import Category, Lane, Recording
from summarykit.shapes import Ints

MARK = b'"otherData":{"library":"summarykit"}'
"""Tells that a trace is one of ours, and no recording of its own."""
_BATCH = 1 << 14
_WORDS = [category.name.lower() for category in Category]


def write_timeline(recordings: Sequence[Recording], path: str | os.PathLike[str]) -> None:
    """Write ``trace.json``, or with a name that ends in ``.gz`` the same packed.

    Ranks are aligned by the wall clock where all of them know it, else each begins at 0.

    Args:
        recordings: one or those of several ranks.
        path: the file; what is there is replaced.

    Raises:
        OSError: it cannot be written.
    """
    pack = os.fspath(path).endswith(".gz")
    with gzip.open(path, "wb", compresslevel=4) if pack else open(path, "wb") as file:
        _write(file, recordings)    # type: ignore[arg-type]  # both take bytes


def _write(file: IO[bytes], recordings: Sequence[Recording]) -> None:
    file.write(b'{"displayTimeUnit":"ms",' + MARK + b',"traceEvents":[\n')
    separator = b""
    for lines in _events(recordings):
        if lines:
            file.write(separator + ",\n".join(lines).encode())
            separator = b",\n"
    file.write(b"\n]}\n")


def _events(recordings: Sequence[Recording]) -> Iterator[list[str]]:
    shifts, processes = _shifts(recordings), count(1)
    for recording, shift in zip(recordings, shifts, strict=True):
        numbers = {process: next(processes) for process in [None, *dict.fromkeys(lane.process for lane in recording.spans.lanes)]}
        yield _titles(recording, numbers)
        yield from _spans(recording, numbers, shift)
        yield _steps(recording, numbers[None], shift)
        yield from _counters(recording, numbers[None], shift)


def _shifts(recordings: Sequence[Recording]) -> list[int]:
    """Nanoseconds to take from each recording's times."""
    begins = [_begin(recording) for recording in recordings]
    offsets = [recording.clock_offset for recording in recordings]
    if any(offset is None for offset in offsets):
        return begins
    first = min((begin + (offset or 0) for begin, offset in zip(begins, offsets, strict=True)), default=0)
    return [first - (offset or 0) for offset in offsets]


def _begin(recording: Recording) -> int:
    times = [recording.spans.start, *(recording.tables[name][column] for name, column in _TIMED if name in recording.tables)]
    return min((int(each.min()) for each in times if len(each)), default=0)


_TIMED = (("steps", "start"), ("counters", "time"))


def _titles(recording: Recording, numbers: dict[int | None, int]) -> list[str]:
    """Names of processes and threads."""
    rank = f"rank {recording.rank}: " if recording.world_size > 1 else ""
    device = {lane.process for lane in recording.spans.lanes if lane.device}
    lines = [_named("process_name", numbers[None], 0, f"{rank}steps and counters")]
    for process, number in numbers.items():
        if process is not None:
            lines.append(_named("process_name", number, 0, f"{rank}{'device' if process in device else 'process'} {process}"))
    for thread, lane in enumerate(recording.spans.lanes, 1):
        lines.append(_named("thread_name", numbers[lane.process], thread, _title(lane)))
    return lines


def _title(lane: Lane) -> str:
    return lane.title or (f"stream {lane.thread}" if lane.device else f"thread {lane.thread}")


def _named(what: str, process: int, thread: int, name: str) -> str:
    return f'{{"ph":"M","name":"{what}","pid":{process},"tid":{thread},"args":{{"name":{json.dumps(name)}}}}}'


def _spans(recording: Recording, numbers: dict[int | None, int], shift: int) -> Iterator[list[str]]:
    spans = recording.spans
    names = [json.dumps(name) for name in spans.names]
    without = Category.STEP if _has_own_steps(recording) else None
    places = [f'"pid":{numbers[lane.process]},"tid":{thread}' for thread, lane in enumerate(spans.lanes, 1)]
    for chosen in _in_order(spans.start):
        columns = spans.name[chosen], spans.category[chosen], spans.lane[chosen], spans.start[chosen] - shift, spans.duration[chosen]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        yield [
            _span(_WORDS[category], names[name], places[lane], start, duration)
            for name, category, lane, start, duration in rows
            if category != without
        ]


def _in_order(start: Ints) -> Iterator[Ints | slice]:
    """The places of some spans at a time, from the first to the last by start; those that come so need no memory for their order."""
    ordered = (start[1:] >= start[:-1]).all()
    order = None if ordered else np.argsort(start, kind="stable")
    for begin in range(0, len(start), _BATCH):
        some = slice(begin, begin + _BATCH)
        yield some if order is None else order[some]


def _span(word: str, name: str, place: str, start: int, duration: int) -> str:
    return f'{{"ph":"X","cat":"{word}","name":{name},{place},"ts":{start / 1000:.3f},"dur":{duration / 1000:.3f}}}'


def _has_own_steps(recording: Recording) -> bool:
    """Whether there are more steps than spans of them: a trace by PyTorch has the first ones of a window, without their wait for data."""
    return "steps" in recording.tables and recording.tables["steps"].rows > int(recording.spans.of(Category.STEP).sum())


def _steps(recording: Recording, process: int, shift: int) -> list[str]:
    if not _has_own_steps(recording):
        return []
    found = recording.tables["steps"]
    rows = zip(found["step"].tolist(), found["start"].tolist(), found["end"].tolist(), strict=True)
    place = f'"pid":{process},"tid":0'
    return [_span("step", f'"step {step}"', place, start - shift, end - start) for step, start, end in rows]


def _counters(recording: Recording, process: int, shift: int) -> Iterator[list[str]]:
    found = recording.tables.get("counters")
    if found is None:
        return
    known = np.isfinite(found["value"])
    rows = zip(*(found[name][known].tolist() for name in ("time", "counter", "value")), strict=True)
    yield [
        f'{{"ph":"C","name":{json.dumps(str(name))},"pid":{process},"tid":0,"ts":{(time - shift) / 1000:.3f},"args":{{"value":{value!r}}}}}'
        for time, name, value in rows
    ]
