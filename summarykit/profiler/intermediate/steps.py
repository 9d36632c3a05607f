"""``step_trace_raw_<d>_detail_time.csv`` and ``step_trace_point_info[_<d>].json``: how each step splits, in ticks of 10 ns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from summarykit.profiler.analysis.phases import classic, phases
from summarykit.profiler.analysis.steps import steps as ordered_steps
from summarykit.profiler.intermediate.target import Target
from summarykit.profiler.recording import Recording, Table
from summarykit.shapes import Array, Ints

HEADER = ("step_num", "start_point", "end_point", "total", "fp_point", "bp_point", "iteration_interval", "fp_and_bp", "tail")
_TICK = 10


def write(recording: Recording, target: Target) -> None:
    """Write both files; nothing where the recording has no steps."""
    steps = ticks(recording)
    if not steps.rows:
        return
    columns = {**steps, **_reduces(recording, steps["step_num"], target)}
    body = np.stack([column.astype(np.int64) for column in columns.values()], axis=1)
    average = ["-", *(_mean(column) for column in body[1:, 1:].T)]
    target.csv("step_trace_raw_{}_detail_time.csv", list(columns), [*body.tolist(), average])
    points = recording.meta.get("points") or {}
    info = {"fp_start": points.get(1, ""), "bp_end": points.get(2, "")}
    target.json("step_trace_point_info_{}.json" if target.dialect.kernel_words else "step_trace_point_info.json", info)


def ticks(recording: Recording) -> Table:
    """The steps in ticks, as the file has them: columns of ``HEADER``.

    Where a recording says neither forward nor backward, they are read from its phases. Of any other source than a device's own ticks the
    times count from its first step: MindInsight's arithmetic loses the last digits of times since 1970.
    """
    steps = ordered_steps(recording)
    if not steps.rows:
        return Table(dict.fromkeys(HEADER, np.zeros(0, np.int64)))
    origin = 0 if recording.source == "ascend" else int(steps["start"][0])
    interval, forward_backward = _split(recording, steps)
    begun = np.minimum(steps["start"] + interval, steps["end"])
    done = np.minimum(begun + forward_backward, steps["end"])
    start, end, forward, backward = ((time - origin) // _TICK for time in (steps["start"], steps["end"], begun, done))
    found = (steps["step"], start, end, end - start, forward, backward, forward - start, backward - forward, end - backward)
    return Table(zip(HEADER, found, strict=True))


def _split(recording: Recording, steps: Table) -> tuple[Ints, Ints]:
    """Until the forward pass and until the end of the backward pass, in ns; of a step with neither, its wait for data and the rest."""
    split = classic(recording, steps)
    interval, forward_backward, total = (_nanoseconds(split[name]) for name in ("iteration_interval", "fp_and_bp", "total"))
    unknown = (interval >= total) & (forward_backward == 0)
    waited = np.where(unknown, _nanoseconds(phases(recording, steps)["data wait"]), interval)
    return waited, np.where(unknown, total - waited, forward_backward)


def _nanoseconds(milliseconds: Array) -> Ints:
    return np.rint(milliseconds * 1e6).astype(np.int64)


def _mean(column: Ints) -> int:
    """The mean of all steps but the first, as MindSpore rounds it; 0 where there is only one."""
    return round(Fraction(sum(column.tolist()), len(column))) if len(column) else 0


def _reduces(recording: Recording, numbers: Ints, target: Target) -> Table:
    """Three columns for each place of communication within a step; 0 in steps that lack it."""
    reduces = recording.tables.get("reduces")
    if reduces is None or not reduces.rows:
        return Table()
    row = {number: place for place, number in enumerate(numbers.tolist())}
    known = Table({name: column[np.isin(reduces["step"], numbers)] for name, column in reduces.items()})
    columns = Table()
    for stream, index in _places(known, None if target.dialect.all_columns else int(numbers[0])):
        chosen = (known["stream"] == stream) & (known["index"] == index)
        where = np.array([row[number] for number in known["step"][chosen].tolist()], np.int64)
        start, end = (np.zeros(len(numbers), np.int64) for _ in range(2))
        start[where], end[where] = known["start"][chosen] // _TICK, known["end"][chosen] // _TICK
        name = str(known["name"][chosen][0])
        columns.update(_three(stream, index, name, start, end, target))
    return columns


def _three(stream: int, index: int, name: str, start: Ints, end: Ints, target: Target) -> Table:
    if target.dialect.duration_first:
        title = f"stream_{stream}_{index}_{name}"
        return Table({title: end - start, f"{title}_start_point": start, f"{title}_end_point": end})
    title = f"stream_{stream}_parallel_{index}"
    return Table({f"{title}_start_point": start, f"{title}_end_point": end, title: end - start})


def _places(reduces: Table, only_step: int | None) -> list[tuple[int, int]]:
    """Stream and index of each place: streams in the order in which they were first seen."""
    chosen = np.ones(reduces.rows, bool) if only_step is None else reduces["step"] == only_step
    pairs = list(dict.fromkeys(zip(reduces["stream"][chosen].tolist(), reduces["index"][chosen].tolist(), strict=True)))
    order = {stream: place for place, stream in enumerate(dict.fromkeys(stream for stream, _ in pairs))}
    return sorted(pairs, key=lambda pair: (order[pair[0]], pair[1]))
