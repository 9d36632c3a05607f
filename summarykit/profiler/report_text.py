"""A report for the terminal: what matters first, nothing that is empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from summarykit.profiler.analysis.phases import SHOWN
from summarykit.profiler.report_ranks import phase_mean, ranks
from summarykit.profiler.sheet import adds_up, bar, cut, number, share, sheet, short_file, size, spread, unit, wrapped

if TYPE_CHECKING:
    from summarykit.profiler.analysis.profile import Profile
    from summarykit.profiler.analysis.report import Report
    from summarykit.profiler.recording import Table

_TOP, _GAPS, _CHANGES = 10, 6, 3


def text(report: Report) -> str:
    """The report as text, in lines of about a hundred columns."""
    if not report.profiles:
        return "nothing was recorded\n"
    one = [line for part in _PARTS for line in part(report.last[0])]
    every = [line for part in (_windows, _ranks, _advice, _costs, _skipped) for line in part(report)]
    return "\n".join([*_head(report), *one, *every]) + "\n"


def _head(report: Report) -> Iterator[str]:
    first = report.last[0].recording
    ranks = f", {len(report.last)} ranks; rank {first.rank} is shown" if len(report.last) > 1 else ""
    world = f", rank {first.rank} of {first.world_size}" if first.world_size > 1 and not ranks else ""
    yield f"{cut(str(first.path), 72)} ({first.source}{world}{ranks})"


def _steps(profile: Profile) -> Iterator[str]:
    times = profile.step_times
    if not times["count"]:
        start, end = profile.window
        spans = len(profile.recording.spans)
        yield f"\nno steps; {number((end - start) / 1e6)} ms recorded, {spans:,} spans" if spans else "\nno steps"
        return
    numbers = profile.steps["step"]
    if times["count"] == 1:
        yield f"\n1 step ({numbers[0]}): {number(times['mean'])} ms"
        return
    yield f"\n{times['count']:,} steps ({numbers[0]} to {numbers[-1]}), ms a step"
    names = ("median", "mean", "p90", "p99", "min", "max")
    yield from sheet([*names, "IQR/median"], [[*(number(times[name]) for name in names), spread(times["spread"])]])
    if times["first"]:
        some = "first step" if times["first"] == 1 else f"first {times['first']} steps"
        yield f"  the {some} took {number(times['first_extra'])} ms more than later ones do"
    changes = profile.changes
    largest = np.sort(np.argsort(-np.abs(np.log(changes["after"] / changes["before"])), kind="stable")[:_CHANGES]).tolist()
    for step, before, after in ((changes[name][row] for name in ("step", "before", "after")) for row in largest):
        yield f"  from step {step} on: {number(after)} ms instead of {number(before)}"
    if changes.rows > _CHANGES:
        yield f"  and {changes.rows - _CHANGES} smaller changes"


def _phases(profile: Profile) -> Iterator[str]:
    total = profile.step_times.get("mean", 0.0)
    if not total:
        return
    yield "\nphases, ms a step"
    means = {name: float(profile.phases[name].mean()) for name in (*SHOWN, "other")}
    classic = {name: float(profile.classic[name].mean()) for name in ("iteration_interval", "fp_and_bp", "tail")}
    means[profile.rest] = means.pop("other")
    if any(means[name] for name in SHOWN):
        rows = [[name, number(mean), share(mean / total), bar(mean / total)] for name, mean in means.items() if mean]
        yield from sheet(("<", "", "", "<"), rows)
    if not classic["fp_and_bp"]:
        return
    parts = ", ".join(f"{name.replace('_', ' ')} {number(mean)} ms ({share(mean / total)})" for name, mean in classic.items())
    yield f"  in MindInsight's terms: {parts}"


def _input(profile: Profile) -> Iterator[str]:
    found = profile.input
    if found.get("mean"):
        mean, longest = (number(found[name]) for name in ("mean", "p99"))
        first = f"; the first step, not counted, {number(found['first'])} ms" if found["first"] else ""
        yield f"\ninput: {found['verdict']}; a step waits {mean} ms ({share(found['share'])}) for its data, p99 {longest} ms{first}"


def _pipeline(profile: Profile) -> Iterator[str]:
    found = profile.pipeline
    if found.rows:
        yield "\ninput pipeline, ms an item"
        rows = [_stage({name: column[row] for name, column in found.items()}) for row in range(found.rows)]
        yield from sheet(["<stage", "<from", "workers", "items", "time", "queue", "of", "empty", "<"], rows)


def _stage(row: dict[str, Any]) -> list[str]:
    name, mark = cut(f"{row['stage']} {row['name']}", 40), "<- the slowest" if row["slowest"] else ""
    counts = (row["source"], row["workers"], row["items"] or "")    # of MindData's stages only the queues are known
    return [name, *map(str, counts), number(row["time"]), number(row["queue"]), str(row["capacity"] or ""), share(row["empty"]), mark]


def _devices(profile: Profile) -> Iterator[str]:
    found = profile.devices
    if not found.rows:
        return
    yield "\ndevices, ms"
    names = ("compute", "communication", "memory", "overlap", "idle")
    first = [[str(device), share(use)] for device, use in zip(found["device"], found["utilization"], strict=True)]
    rows = [[*start, *(number(found[name][row]) for name in names)] for row, start in enumerate(first)]
    yield from sheet(["device", "busy", *names], rows)
    if profile.seen < profile.steps.rows:
        yield f"  only {profile.seen:,} of {profile.steps.rows:,} steps have something recorded of a device: the others count as idle"
    causes = profile.idle
    for row in np.argsort(-causes["time"], kind="stable")[:_GAPS].tolist():
        count, told = causes["count"][row], _CAUSES[causes["cause"][row]]
        gaps = f"{count:,} gaps" if count > 1 else "1 gap"
        yield f"  stream {causes['stream'][row]}: {number(causes['time'][row])} ms in {gaps} {told}"


_CAUSES = {
    "host": "because the host launched late",
    "launch": "between kernels, the device's own",
    "other": "waiting for other streams",
}


def _operators(profile: Profile) -> Iterator[str]:
    part = f" in the first {profile.traced} steps" if profile.traced < profile.steps.rows else ""
    for side in ("host", "device"):
        found = profile.operators
        chosen = [row for row in range(found.rows) if found["side"][row] == side][:_TOP]
        if chosen:
            yield f"\noperators of the {side}{part}, ms in all"
            names = [name for name in ("self", "total", "mean", "p99") if name in found]
            rows = [
                [cut(found["name"][row]), f"{found['count'][row]:,}", *(number(found[name][row]) for name in names), _shared(found, row)]
                for row in chosen
            ]
            yield from sheet(["<", "calls", *names, "share of self"], rows)


def _shared(found: Table, row: int) -> str:
    return share(float(found["share"][row])) if "share" in found else ""


def _python(profile: Profile) -> Iterator[str]:
    found = profile.python
    if found.rows:
        yield "\nPython, ms in all"
        rows = [
            [cut(found["function"][row], 40), cut(_place(found["file"][row], found["line"][row]), 44)]
            + [number(found[name][row]) for name in ("self", "total")]
            for row in range(min(found.rows, _TOP))
        ]
        yield from sheet(["<", "<", "self", "total"], rows)


def _place(file: str, line: int) -> str:
    return f"{short_file(file)}:{line}" if file else ""


def _memory(profile: Profile) -> Iterator[str]:
    found = profile.memory
    if found.rows:
        yield "\nmemory"
        rows = [
            ["host" if found["device"][row] < 0 else f"device {found['device'][row]:.0f}"]
            + [size(found[name][row]) for name in ("peak", "last", "allocated", "growth")]
            + [f"{found['allocations'][row]:,.0f}"]
            for row in range(found.rows)
        ]
        yield from sheet(["<", "peak", "last", "allocated", "growth a step", "allocations"], rows)


def _input_shapes(profile: Profile) -> Iterator[str]:
    found = profile.input_shapes
    changing = [row for row in range(min(found.rows, _TOP)) if found["shapes"][row] > 1]
    if changing:
        yield "\noperators whose inputs change their shapes"
        columns = ("calls", "shapes")
        rows = [[cut(found["name"][row]), *(f"{found[name][row]:,}" for name in columns), cut(found["common"][row])] for row in changing]
        yield from sheet(["<", *columns, "<most often"], rows)
    elif found.rows:
        yield f"\ninput shapes: constant, of all operators ({found.rows:,})"


def _counters(profile: Profile) -> Iterator[str]:
    found = profile.counters
    if found.rows:
        yield "\nmeanwhile"
        names = ("mean", "min", "median", "p90", "max", "last")
        rows = [_counter({name: column[row] for name, column in found.items()}, names) for row in range(found.rows)]
        yield from sheet(["<", *names, "in all"], rows)
        if "process/cpu" in found["counter"]:
            yield "  100% of process/cpu is one processor, of system/cpu all of them"


def _counter(row: dict[str, Any], names: Sequence[str]) -> list[str]:
    spell = unit(row["counter"])
    figures = [spell(row[name]) for name in names]
    return [cut(row["counter"], 40), *([""] * len(names) + figures[-1:] if adds_up(row["counter"]) else [*figures, ""])]


_PARTS = (_steps, _phases, _input, _pipeline, _devices, _operators, _python, _memory, _input_shapes, _counters)


def _windows(report: Report) -> Iterator[str]:
    here = [profile for profile in report.profiles if profile.recording.rank == report.last[0].recording.rank]
    if len(here) > 1:
        yield "\nother recordings of this process, ms a step"
        rows = []
        for profile in here[:-1]:
            times = profile.step_times
            figures = [number(times.get("median", float("nan"))), number(phase_mean(profile, "data wait"))]
            rows.append([cut(str(profile.recording.path), 72), f"{times['count']:,}", *figures])
        yield from sheet(["<", "steps", "median", "data wait"], rows)


def _ranks(report: Report) -> Iterator[str]:
    header, rows = ranks(report)
    if rows:
        yield "\nranks, ms a step"
        yield from sheet(header, rows)


def _advice(report: Report) -> Iterator[str]:
    yield "\nadvice"
    if not report.advice:
        steps = any(profile.steps.rows for profile in report.last)
        yield "  nothing to gain: no rule applies" if steps else "  none: most rules look at steps, and there are none"
    for place, advice in enumerate(report.advice, 1):
        gain = f"gain: up to {number(advice.gain_ms)} ms a step, {share(advice.gain)}; " if advice.gain_ms else ""
        yield from wrapped(advice.title, f"  {place}. ", 5)
        yield from wrapped(advice.evidence, "     ", 5)
        yield from wrapped(advice.change, "     -> ", 8)
        yield from wrapped(f"{gain}confidence {advice.confidence}; to check: {advice.check}", "     ", 5)


def _costs(report: Report) -> Iterator[str]:
    found = report.costs
    if found.rows:
        yield "\nwhat the profiler itself took, ms: processor time, and what starting and stopping held up the training"
        names, several = ("time", "start", "stop"), len(report.profiles) > 1
        rows = [
            [str(found["rank"][row]) if several else "", found["collector"][row], f"{found['calls'][row]:,}"]
            + [number(found[name][row]) for name in names]
            for row in range(found.rows)
            if found["calls"][row] or found["start"][row] + found["stop"][row] >= 0.01
        ]
        yield from sheet(["<rank", "<", "calls", *names], rows)
        yield from (f"  {text}" for text in found["limited"] if text)


def _skipped(report: Report) -> Iterator[str]:
    if report.skipped:
        yield "\nnot read: " + ", ".join(f"{count:,} {reason}" for reason, count in report.skipped.most_common())
