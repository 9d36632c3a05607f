"""What tags runs have."""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

from summarykit.cli import select, spell, table
from summarykit.cli.describe import describe
from summarykit.reading import Run
from summarykit.reading.series import Scalars, Series

_HEADER = ("<kind", "<tag", "?>runs", ">points", "?>first step", ">last step", "~last value")


def document(runs: select.Runs, args: argparse.Namespace) -> dict[str, Any]:
    """For JSON: the tags of each run."""
    return {"runs": [{"run": name, "path": str(run.path), "tags": _tags(run, args)} for name, run in runs.items()]}


def show(runs: select.Runs, args: argparse.Namespace) -> None:
    """Print a table with a line for each tag; of several runs, what they have together."""
    series: dict[tuple[str, str], list[Series]] = defaultdict(list)
    for run in runs.values():
        for kind, tag in select.tags_of(run, args):
            series[kind, tag].append(run.points(kind, tag))
    table.show(_HEADER, [_row(found, len(runs)) for found in series.values()])


def _tags(run: Run, args: argparse.Namespace) -> list[dict[str, Any]]:
    return [_facts(run.points(kind, tag)) for kind, tag in select.tags_of(run, args)]


def _facts(series: Series) -> dict[str, Any]:
    filled = len(series) > 0
    return {
        "kind": series.kind,
        "tag": series.tag,
        "points": len(series),
        "first_step": series.step.min() if filled else None,
        "last_step": series.step.max() if filled else None,
        "last_value": describe(series[-1].value).facts if filled else None,
    }


def _row(found: list[Series], runs: int) -> list[str]:
    filled = [series for series in found if len(series)]
    return [
        found[0].kind,
        found[0].tag,
        f"{len(found)}" if runs > 1 else "",
        f"{sum(map(len, found)):,}",
        f"{min(series.step.min() for series in filled)}" if filled else "",
        f"{max(series.step.max() for series in filled)}" if filled else "",
        _last(filled),
    ]


def _last(filled: list[Series]) -> str:
    """The last value; of scalars in several runs the smallest and the largest."""
    if not filled:
        return ""
    if isinstance(filled[0], Scalars) and len(filled) > 1:
        values = sorted(float(series.value[-1]) for series in filled if isinstance(series, Scalars))
        return f"{spell.number(values[0])} … {spell.number(values[-1])}"
    newest = max(filled, key=lambda series: series.wall_time[-1])
    return describe(newest[-1].value).line
