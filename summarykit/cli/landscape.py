"""Draw the loss landscapes of runs: as PNG pictures and one interactive page.

OUT is a new directory: landscape.html has every surface, with contours, a 3-D view and the values under the pointer, and needs no network
and no server; where matplotlib is installed, there is a PNG for each too. Without OUT: what landscapes there are.

To compute landscapes, train with SummaryCollector(..., collect_specified_data={"collect_landscape": ...}) and then use SummaryLandscape.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from summarykit import __version__
from summarykit.cli import page, select, spell, table
from summarykit.cli.outcome import OK, CommandError, complain
from summarykit.cli.output import refuse_filled
from summarykit.errors import MissingExtraError
from summarykit.reading.plotting import clipped
from summarykit.reading.surface import LossSurface
from summarykit.shapes import LossLandscape

_HEADER = ("<run", "<tag", "<directions", ">points", ">lowest", ">highest", "<path")


class Found(NamedTuple):
    """A landscape and where it is from."""

    run: str
    tag: str
    surface: LossSurface


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    select.add_runs(parser)
    parser.add_argument("out", metavar="OUT", type=Path, nargs="?", help="a new directory for the page and the pictures")
    parser.add_argument("--tag", metavar="TAG", action="append", help="only this one, such as 'landscape_[1, 4]'; may be repeated")
    parser.add_argument("--json", action="store_true", help="print JSON: all numbers of the surfaces; with OUT the files that were written")


def run(args: argparse.Namespace) -> int:
    """Draw or list them."""
    found = list(_found(select.open_runs(args), args))
    if not found:
        raise CommandError(f"{args.base}: no landscapes here{' of that tag' if args.tag else ''}; SummaryLandscape computes them")
    if args.out is None:
        _list(found, args.json)
        return OK
    refuse_filled(args.out)
    args.out.mkdir(parents=True, exist_ok=True)
    written = [_page(found, args), *_pictures(found, args.out)]
    if args.json:
        spell.print_json({"written": [str(file) for file in written]})
    else:
        table.show(("<file", ">size"), [(str(file), spell.size(file.stat().st_size)) for file in written])
    return OK


def _found(runs: select.Runs, args: argparse.Namespace) -> Iterator[Found]:
    wanted = argparse.Namespace(kind=["landscape"], tag=args.tag)
    for name, run in runs.items():
        points = [run.points(kind, tag)[-1] for kind, tag in select.tags_of(run, wanted)]
        surfaces = [(point.tag, LossSurface.of(point.value)) for point in points if isinstance(point.value, LossLandscape)]
        for tag, surface in sorted(surfaces, key=lambda each: _age(each[1])):
            yield Found(name, tag, surface)


def _age(surface: LossSurface) -> tuple[int, int]:
    """Intervals in the order of the training, then the result."""
    return (1, 0) if surface.path is None else (0, int(surface.path.steps[0]))


def _list(found: list[Found], as_json: bool) -> None:
    if as_json:
        spell.print_json([_chart(each) for each in found])
    else:
        table.show(_HEADER, map(_row, found))


def _row(found: Found) -> tuple[str, ...]:
    surface, finite = found.surface, found.surface.z[np.isfinite(found.surface.z)]
    low, high = (spell.short(float(pick(finite))) if finite.size else "" for pick in (np.min, np.max))
    path = "" if surface.path is None else f"{surface.unit}s {surface.path.steps[0]} … {surface.path.steps[-1]}"
    return found.run, found.tag, surface.decomposition, f"{len(surface.y)}×{len(surface.x)}", low, high, path


def _page(found: list[Found], args: argparse.Namespace) -> Path:
    title = f"{args.base.resolve().name}: loss landscapes"
    content = {"title": title, "note": f"{time.strftime('%Y-%m-%d %H:%M')}, summarykit {__version__}", "charts": list(map(_chart, found))}
    file: Path = args.out / "landscape.html"
    file.write_text(page.page(title, content, "landscape.html"), encoding="ascii")
    return file


def _chart(found: Found) -> dict[str, Any]:
    """What the page draws, and what JSON tells."""
    surface = found.surface
    shares = [f" ({share:.1%} of the variance)" for share in surface.explained_variance] or ["", ""]
    return {
        "run": found.run, "tag": found.tag, "told": _told(surface), "unit": surface.unit, "decomposition": surface.decomposition,
        "x": surface.x, "y": surface.y, "z": surface.z, "metrics": dict(surface.metrics), "high": clipped(surface.z)[1][1],
        "path": None if surface.path is None else vars(surface.path), "convergence": surface.convergence,
        "explained_variance": surface.explained_variance, "xname": f"direction 1{shares[0]}", "yname": f"direction 2{shares[-1]}",
        "notes": dict(surface.notes),
    }  # fmt: skip


def _told(surface: LossSurface) -> str:
    samples = surface.notes.get("num_samples")
    parts = [f"{surface.decomposition} directions", f"{len(surface.y)}×{len(surface.x)} points"]
    return ", ".join([*parts, *([f"{samples:,} samples"] if isinstance(samples, int) else [])])


def _pictures(found: list[Found], directory: Path) -> Iterator[Path]:
    for number, each in enumerate(found, 1):
        try:
            axes = each.surface.plot()
        except MissingExtraError as error:
            complain(f"no PNG pictures: {error}")
            return
        axes.set_title(each.tag if each.run == "." else f"{each.run}  {each.tag}", fontsize=10)
        file = directory / f"{number:03d}.png"
        axes.figure.savefig(file, dpi=120)
        yield file
