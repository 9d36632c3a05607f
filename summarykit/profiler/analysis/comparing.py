"""Two recordings, one before and one after a change: what became faster, and did the gain that was promised come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from summarykit.profiler.analysis.phases import SHOWN
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.recording import Table
from summarykit.profiler.sheet import cut, number, share, sheet
from summarykit.shapes import Floats

if TYPE_CHECKING:
    from summarykit.profiler.advice import Advice

_SURE = 3.0
_SMALLEST = 0.01


@dataclass(frozen=True, eq=False)
class Comparison:
    """What changed from one recording to the other.

    Attributes:
        before: the report on the first.
        after: the report on the second.
        steps: one row: ``before``, ``after``, ``change`` (ms, medians of the step times), ``relative``, ``verdict`` (``"faster"``,
            ``"slower"``, ``"no difference"``, ``"unknown"``).
        phases: ``phase``, and in ms a step ``before``, ``after``, ``change``.
        operators: ``name``, ``side``, and in ms a step ``before``, ``after``, ``change``; what changed most first.
        kept: what came of the advice on the first: ``rule``, ``promised`` and ``gained`` (ms a step), ``gone`` (bool: not given again).
    """

    before: Report
    after: Report
    steps: Table
    phases: Table
    operators: Table
    kept: Table

    def __str__(self) -> str:
        """The comparison for the terminal."""
        return "\n".join(_lines(self)) + "\n"

    def to_json(self) -> str:
        """The comparison for programs: its tables as objects of lists."""
        tables = {name: getattr(self, name) for name in ("steps", "phases", "operators", "kept")}
        return json.dumps({name: {column: _plain(values) for column, values in table.items()} for name, table in tables.items()})


def compare(before: Report, after: Report) -> Comparison:
    """Compare the first ranks of two reports, of several windows the last ones.

    Raises:
        ValueError: one of them has no recording.
    """
    for name, report in (("before", before), ("after", after)):
        if not report.profiles:
            raise ValueError(f"{name}: a report on one recording or more is needed, this one is empty")
    steps = _steps(before.last[0].steps["duration"], after.last[0].steps["duration"])
    gained = -float(steps["change"][0])
    return Comparison(before, after, steps, _phases(before, after), _operators(before, after), _kept(before.advice, after.advice, gained))


def _steps(before: Floats, after: Floats) -> Table:
    """By medians and their standard errors, which few long steps do not move."""
    if not (len(before) and len(after)):
        row: tuple[Any, ...] = (np.nan, np.nan, np.nan, np.nan, "unknown")
    else:
        first, second = float(np.median(before)), float(np.median(after))
        error = sqrt(_error(before) ** 2 + _error(after) ** 2)
        certain = abs(second - first) > max(_SURE * error, _SMALLEST * first)
        verdict = ("faster" if second < first else "slower") if certain else "no difference"
        row = (first, second, second - first, (second - first) / first, verdict)
    names = ("before", "after", "change", "relative", "verdict")
    return Table({name: np.array([value], object if isinstance(value, str) else float) for name, value in zip(names, row, strict=True)})


def _error(values: Floats) -> float:
    """Standard error of a median, from the spread of the middle half."""
    low, high = np.percentile(values, (25, 75))
    return float(1.253 * (high - low) / 1.349 / sqrt(len(values)))


def _phases(before: Report, after: Report) -> Table:
    names = (*SHOWN, "other")
    first, second = (np.array([_mean(report.last[0].phases[name]) for name in names]) for report in (before, after))
    return Table(phase=np.array(names, object), before=first, after=second, change=second - first)


def _operators(before: Report, after: Report) -> Table:
    first, second = (_by_operator(report) for report in (before, after))
    keys = list(dict.fromkeys([*first, *second]))
    old, new = (np.array([times.get(key, 0.0) for key in keys], float) for times in (first, second))
    order = np.argsort(-np.abs(new - old), kind="stable")
    texts = {name: np.array([key[place] for key in keys], object)[order] for place, name in enumerate(("name", "side"))}
    return Table(**texts, before=old[order], after=new[order], change=(new - old)[order])


def _by_operator(report: Report) -> dict[tuple[str, str], float]:
    profile = report.last[0]
    found, count = profile.operators, max(profile.traced, 1)
    times: dict[tuple[str, str], float] = {}
    for name, side, time in zip(*(found.get(column, ()) for column in ("name", "side", "self")), strict=True):
        times[name, side] = times.get((name, side), 0.0) + float(time) / count
    return times


def _kept(before: list[Advice], after: list[Advice], gained: float) -> Table:
    again = {advice.rule for advice in after}
    return Table(
        rule=np.array([advice.rule for advice in before], object),
        promised=np.array([advice.gain_ms for advice in before], float),
        gained=np.full(len(before), gained),
        gone=np.array([advice.rule not in again for advice in before], np.bool_),
    )


def _mean(column: Floats) -> float:
    return float(column.mean()) if len(column) else float("nan")


def _plain(values: Any) -> list[Any]:
    return [None if isinstance(value, float) and not np.isfinite(value) else value for value in values.tolist()]


def _lines(found: Comparison) -> Iterator[str]:
    before, after, change, relative, verdict = (column[0] for column in found.steps.values())
    yield f"before {cut(str(found.before.last[0].recording.path), 80)}"
    yield f"after  {cut(str(found.after.last[0].recording.path), 80)}"
    if verdict == "unknown":
        yield "\nstep times cannot be compared: one of them has no steps"
    else:
        yield f"\nstep: {verdict}, {number(before)} ms before, {number(after)} ms after ({number(change)} ms, {share(relative)})"
        yield from _table("phases, ms a step", found.phases, ("phase",), 8)
    yield from _table("operators, ms a step", found.operators, ("name", "side"), 12)
    if found.kept.rows:
        yield "\nadvice on the first"
        rows = zip(*(found.kept[name].tolist() for name in ("rule", "promised", "gone")), strict=True)
        told = [[rule, number(promise) if promise else "", "no longer given" if gone else "still given"] for rule, promise, gone in rows]
        yield from sheet(["<rule", "promised", "<"], told)
        promised, gained = float(found.kept["promised"].sum()), float(found.kept["gained"][0])
        if promised and verdict != "unknown":
            yield f"  together up to {number(promised)} ms a step; {number(gained)} ms came ({share(gained / promised)})"


def _table(title: str, table: Table, texts: tuple[str, ...], most: int) -> Iterator[str]:
    rows = [row for row in range(table.rows) if table["before"][row] or table["after"][row]][:most]
    if rows:
        yield f"\n{title}"
        header = [*(f"<{name}" for name in texts), "before", "after", "change"]
        told = [[*(cut(table[name][row]) for name in texts), *(number(table[name][row]) for name in header[-3:])] for row in rows]
        yield from sheet(header, told)
