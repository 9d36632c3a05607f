"""One self-contained page with the curves of scalars: it loads nothing, neither from the network nor from a library."""

from __future__ import annotations

import argparse
import html
import time
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from summarykit import __version__
from summarykit.cli import select, spell
from summarykit.cli.outcome import OK, CommandError
from summarykit.cli.output import refuse_summary
from summarykit.reading import Run
from summarykit.reading.series import Scalars
from summarykit.reading.thinning import thin

_CURVE, _FEWEST, _PAGE = 4000, 200, 1_000_000
"""Points of a curve at most, even among many curves, and of all curves together."""


def write(file: Path, runs: select.Runs, args: argparse.Namespace) -> int:
    """Write the page; gives the exit code.

    Raises:
        CommandError: there are no scalars, or the file must not be written to.
        OSError: it cannot be written.
    """
    refuse_summary(file)
    found = _scalars(runs, args)
    if not found:
        raise CommandError(f"no scalars to draw; there are {select.kinds(runs)}")
    title = f"{args.base.resolve().name}: scalars"
    drawn = {name: run for name, run in runs.items() if any(name in by_run for by_run in found.values())}
    file.write_text(page(title, document(title, drawn, found)), encoding="ascii")
    print(f"{file}: {spell.some(len(found), 'chart')} of {spell.some(len(drawn), 'run')}, {spell.size(file.stat().st_size)}")
    return OK


def page(title: str, content: dict[str, Any], form: str = "page.html") -> str:
    """The page as text, in ASCII. Nothing in ``content`` can end the element that it stands in: it has no ``<``, ``>`` or ``&``."""
    head, template = (resources.files("summarykit.cli").joinpath(name).read_text(encoding="ascii") for name in ("head.html", form))
    data = spell.text(content)
    for char in "<>&":
        data = data.replace(char, f"\\u{ord(char):04x}")
    before, _, after = template.replace("@HEAD@\n", head, 1).partition("@DATA@")
    name = html.escape(title).encode("ascii", "xmlcharrefreplace").decode()
    return before.replace("@TITLE@", name) + data + after


def document(title: str, runs: select.Runs, found: dict[str, dict[str, Scalars]]) -> dict[str, Any]:
    """What the page draws."""
    curves = sum(map(len, found.values()))
    limit = min(_CURVE, max(_FEWEST, _PAGE // curves))
    names = list(runs)
    starts = [_start(run) for run in runs.values()]
    return {
        "title": title,
        "note": f"{time.strftime('%Y-%m-%d %H:%M')}, summarykit {__version__}",
        "limit": limit,
        "runs": names,
        "starts": starts,
        "charts": [
            {"tag": tag, "curves": [_curve(names.index(name), series, starts[names.index(name)], limit) for name, series in by_run.items()]}
            for tag, by_run in found.items()
        ],
    }


def _scalars(runs: select.Runs, args: argparse.Namespace) -> dict[str, dict[str, Scalars]]:
    """Scalars by tag and run."""
    found: dict[str, dict[str, Scalars]] = {}
    for name, run in runs.items():
        for kind, tag in select.tags_of(run, args):
            if kind == "scalar":
                series = run.scalars(tag)
                found.setdefault(tag, {})[name] = series[-args.last :] if args.last else series
    return dict(sorted(found.items()))


def _curve(run: int, series: Scalars, start: float, limit: int) -> dict[str, Any]:
    kept = thin(series.value, limit)
    return {
        "run": run,
        "points": len(series),
        "step": series.step[kept],
        "time": np.round(series.wall_time[kept] - start, 6),
        "value": [float(f"{value:.9g}") for value in series.value[kept].tolist()],
    }


def _start(run: Run) -> float:
    """When a run recorded its first scalar, in seconds since the epoch."""
    times = (run.scalars(tag).wall_time for tag in run.tags().get("scalar", []))
    return min((float(each.min()) for each in times if len(each)), default=0.0)
