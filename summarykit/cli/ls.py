"""List the runs below a directory and what they hold.

One line for each run: how many tags of each kind, how many points, the last step, when its files last changed and how large they are.
The last column tells of damage; 'summarykit verify' says where it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from summarykit.cli import select, spell, table
from summarykit.cli.outcome import OK
from summarykit.reading import Run

_COMMON = ("scalar", "histogram", "image", "tensor")
_HEADER = ("<run", *(f"?>{kind}s" for kind in _COMMON), "?>other", ">points", ">last step", ">changed", ">size", "<")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    select.add_runs(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON array, an object for each run; times are seconds since the epoch")


def run(args: argparse.Namespace) -> int:
    """List the runs."""
    found = [facts(name, each) for name, each in select.each_run(args)]
    if args.json:
        spell.print_json(found)
    else:
        table.show(_HEADER, map(_row, found))
    return OK


def facts(name: str, found: Run) -> dict[str, Any]:
    """What is to be said of a run."""
    series = [found.points(kind, tag) for kind, tags in found.tags().items() for tag in tags]
    files = found.files
    return {
        "run": name,
        "path": str(found.path),
        "tags": {kind: len(tags) for kind, tags in found.tags().items()},
        "points": {kind: sum(len(each) for each in series if each.kind == kind) for kind in found.tags()},
        "last_step": max((int(each.step.max()) for each in series if len(each)), default=None),
        "last_change": max((file.path.stat().st_mtime for file in files if file.path.exists()), default=None),
        "bytes": sum(file.bytes for file in files),
        "files": len(files),
        "damaged_places": sum(len(file.damage) for file in files),
        "torn_ends": sum(file.truncated is not None for file in files),
        "lost_records": sum(loss.records for loss in found.damage),
    }


def _row(facts: dict[str, Any]) -> list[str]:
    tags, last = facts["tags"], facts["last_step"]
    return [
        facts["run"],
        *(spell.count(tags.get(kind, 0)) for kind in _COMMON),
        spell.count(sum(number for kind, number in tags.items() if kind not in _COMMON)),
        f"{sum(facts['points'].values()):,}",
        "" if last is None else str(last),
        "" if facts["last_change"] is None else spell.ago(facts["last_change"]),
        spell.size(facts["bytes"]),
        ", ".join(_marks(facts)),
    ]


def _marks(facts: dict[str, Any]) -> Iterator[str]:
    if facts["lost_records"]:
        yield f"! {spell.some(facts['lost_records'], 'record')} lost"
    elif facts["damaged_places"]:
        yield "damaged, nothing lost"
    if facts["torn_ends"]:
        yield "torn end"
