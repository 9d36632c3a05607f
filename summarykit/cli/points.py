"""The points of the tags that are asked for."""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

from summarykit.cli import compare, look, select
from summarykit.reading.series import Scalars, Series

Found = dict[tuple[str, str], dict[str, Series]]
"""Kind and tag -> name of the run -> points."""


def document(runs: select.Runs, args: argparse.Namespace) -> dict[str, Any]:
    """For JSON: the points of each tag and run in columns."""
    return {"series": [_columns(run, _last(series, args)) for by_run in _find(runs, args).values() for run, series in by_run.items()]}


def show(runs: select.Runs, args: argparse.Namespace) -> None:
    """Print a table for each tag."""
    for place, ((kind, tag), by_run) in enumerate(_find(runs, args).items()):
        print("\n" * (place > 0) + _title(kind, tag))
        scalars = {run: series for run, series in by_run.items() if isinstance(series, Scalars)}
        if not scalars:
            look.show({run: _last(series, args) for run, series in by_run.items()})
        elif args.last:
            compare.steps(scalars, args.last)
        else:
            compare.runs(scalars)


def _find(runs: select.Runs, args: argparse.Namespace) -> Found:
    found: Found = defaultdict(dict)
    for name, run in runs.items():
        for kind, tag in select.tags_of(run, args):
            found[kind, tag][name] = run.points(kind, tag)
    return found


def _last(series: Series, args: argparse.Namespace) -> Series:
    return series[-args.last :] if args.last else series


def _columns(run: str, series: Series) -> dict[str, Any]:
    values = {"value": series.value} if isinstance(series, Scalars) else {"value": look.facts(series)}
    return {"run": run, "kind": series.kind, "tag": series.tag, "step": series.step, "wall_time": series.wall_time, **values}


def _title(kind: str, tag: str) -> str:
    from summarykit.cli.table import clean

    return clean(tag) if kind == "scalar" else f"{clean(tag)} ({clean(kind)})"
