"""Show the tags of runs, or the points of some: as tables, as JSON, or as a page of curves.

Without --tag: what tags there are, with the number of points, the steps and the last value. With --tag: scalars are compared over all runs,
a line for each run (with --last N: a line for each of the last N steps); of histograms, tensors and images some steps are described.
With --graph-diff: what differs between two recorded graphs, say before and after a fusion pass: nodes replaced, added, removed.
With --html FILE the curves of the scalars go into one self-contained page, which needs no network and no server.

In JSON, numbers that are not finite are the strings "NaN", "Infinity" and "-Infinity"; times are seconds since the epoch.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from summarykit.cli import select, spell
from summarykit.cli.outcome import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    select.add_runs(parser)
    select.add_tags(parser)
    parser.add_argument("--last", metavar="N", type=_positive, help="the last N steps, one by one")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON; with --tag it has all points (or the last N)")
    parser.add_argument(
        "--graph-diff", metavar="GRAPH", nargs="*", help="compare two graphs, named by tag (or RUN:TAG); without names: the two there are"
    )
    output.add_argument("--html", metavar="FILE", type=Path, help="write a page with the curves of the scalars, or of those --tag names")


def run(args: argparse.Namespace) -> int:
    """Show what is asked for."""
    from summarykit.cli import overview, page, points

    runs = select.open_runs(args)
    if args.graph_diff is not None:
        return _graph_diff(runs, args)
    select.expect_tags(runs, args)
    if args.html:
        return page.write(args.html, runs, args)
    if args.tag or args.last:
        document, show = points.document, points.show
    else:
        document, show = overview.document, overview.show
    if args.json:
        spell.print_json(document(runs, args))
    else:
        show(runs, args)
    return OK


def _graph_diff(runs: select.Runs, args: argparse.Namespace) -> int:
    from summarykit.cli import graph_diff

    if args.json:
        spell.print_json(graph_diff.document(runs, args.graph_diff))
    else:
        graph_diff.show(runs, args.graph_diff)
    return OK


def _positive(text: str) -> int:
    number = int(text) if text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return number
