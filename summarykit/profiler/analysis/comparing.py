"""Two recordings, one before and one after a change: what became faster, and did the gain that was promised come."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, sqrt
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
_SHORT = 20
"""Of fewer steps only the median counts."""
_VERDICTS = {-1: "faster", 0: "no difference", 1: "slower"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What changed from one recording to the other.

    Attributes:
        before: the report on the first.
        after: the report on the second.
        steps: one row, of the steps without the long ones at the beginning: ``before``, ``after``, ``change`` (ms; means, or medians where
            only these are sure or there are fewer than 20 steps), ``relative``, ``median_before``, ``median_after``, ``verdict``
            (``"faster"``, ``"slower"``, ``"no difference"``, ``"unknown"``).
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
        TypeError: one of them is no report.
    """
    for name, report in (("before", before), ("after", after)):
        if not isinstance(report, Report):
            raise TypeError(f"{name}: a report is needed, as analyse() and Profiler.offline() give it; got {report!r}")
        if not report.profiles:
            raise ValueError(f"{name}: a report on one recording or more is needed, this one is empty")
    steps = _steps(before.last[0].usual["duration"], after.last[0].usual["duration"])
    gained = -float(steps["change"][0])
    return Comparison(before, after, steps, _phases(before, after), _operators(before, after), _kept(before.advice, after.advice, gained))


def _steps(before: Floats, after: Floats) -> Table:
    """What means say if they are sure, else what medians say if these are; where they contradict each other nothing is sure.

    Means tell what a training gains: steps of a loader with workers take turns to be short and long, and the median is one of them. But few
    long steps that have to do with nothing move a mean, and of a short recording they are all that it says.
    """
    names = ("before", "after", "change", "relative", "median_before", "median_after", "verdict")
    if not (len(before) and len(after)):
        row: tuple[Any, ...] = (*[np.nan] * 6, "unknown")
    else:
        medians = float(np.median(before)), float(np.median(after))
        means = float(before.mean()), float(after.mean())
        said = [(_sign(*medians, _error_of_median, before, after), *medians)]
        if min(len(before), len(after)) >= _SHORT:
            said.insert(0, (_sign(*means, _error_of_mean, before, after), *means))
        sign, first, second = next((each for each in said if each[0]), said[0])
        verdict = "no difference" if {-1, 1} <= {each[0] for each in said} else _VERDICTS[sign]
        row = (first, second, second - first, (second - first) / first, *medians, verdict)
    return Table({name: np.array([value], object if isinstance(value, str) else float) for name, value in zip(names, row, strict=True)})


def _sign(first: float, second: float, error: Callable[[Floats], float], before: Floats, after: Floats) -> int:
    """-1 or 1 where the second is less or more for sure, else 0."""
    sure = abs(second - first) > max(_SURE * sqrt(error(before) ** 2 + error(after) ** 2), _SMALLEST * first)
    return int(np.sign(second - first)) if sure else 0


def _error_of_mean(values: Floats) -> float:
    return float(values.std()) * _of_all(values)


def _error_of_median(values: Floats) -> float:
    """From the spread of the middle half."""
    low, high = np.percentile(values, (25, 75))
    return float(1.253 * (high - low) / 1.349) * _of_all(values)


def _of_all(values: Floats) -> float:
    """What share of the error of each value that of all is; one alone tells of no spread, and may be off by anything."""
    return 1 / sqrt(len(values) - 1) if len(values) > 1 else inf


def _phases(before: Report, after: Report) -> Table:
    names = (*SHOWN, "other")
    first, second = (np.array([_mean(report.last[0].usual_phases[name]) for name in names]) for report in (before, after))
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
    before, after, change, relative, *medians, verdict = (column[0] for column in found.steps.values())
    yield f"before {cut(str(found.before.last[0].recording.path), 80)}"
    yield f"after  {cut(str(found.after.last[0].recording.path), 80)}"
    if verdict == "unknown":
        yield "\nstep times cannot be compared: one of them has no steps"
    else:
        median = f"; medians {' and '.join(map(number, medians))}" if medians != [before, after] else ""
        yield f"\nstep: {verdict}, {number(before)} ms before, {number(after)} ms after ({number(change)} ms, {share(relative)}){median}"
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
