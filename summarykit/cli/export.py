"""Write what runs hold as CSV, JSON, Parquet or NumPy files.

OUT is a new directory: scalars.csv has the columns run, tag, step, wall_time, value; histograms.csv the edges and counts of each histogram;
images.csv, tensors.csv and others.csv say in which file (PNG, .npy, .bin) which step of which tag is.
Where OUT ends in .csv, .json, .jsonl, .parquet or .npz it is one file, with the scalars only.

Every point is exported, none is left out or averaged. Times are seconds since the epoch. Numbers come back exactly; those that are not
finite are nan, inf and -inf in CSV and the strings "NaN", "Infinity" and "-Infinity" in JSON.
"""

from __future__ import annotations

import argparse
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from summarykit.cli import select, spell, table
from summarykit.cli.outcome import OK, CommandError
from summarykit.cli.output import refuse_filled, refuse_summary
from summarykit.cli.sinks import SINKS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    select.add_runs(parser)
    parser.add_argument("out", metavar="OUT", type=Path, help="a new directory, or a file such as loss.csv for the scalars")
    select.add_tags(parser)
    parser.add_argument("--format", choices=SINKS, help="format of the tables (default: that of OUT's name, else csv)")
    parser.add_argument("--json", action="store_true", help='print JSON: "written", each with its kind, rows and bytes')


def run(args: argparse.Namespace) -> int:
    """Write the files."""
    from summarykit.cli import exporting

    form = args.out.suffix[1:] if args.out.suffix[1:] in SINKS else None
    if form and args.format not in (None, form):
        raise CommandError(f"{args.out}: ends in .{form}, but --format is {args.format}")
    runs = select.open_runs(args)
    select.expect_tags(runs, args)
    found = exporting.find(runs, args)
    if form:
        refuse_summary(args.out)
        _expect_scalars(runs, found)
        written = exporting.scalars_only(found, args.out, form)
    else:
        refuse_filled(args.out)
        written = exporting.everything(found, args.out, args.format or "csv")
    if args.json:
        spell.print_json({"written": written})
    else:
        _show(written)
    return OK


def _expect_scalars(runs: select.Runs, kinds: Container[str]) -> None:
    if "scalar" not in kinds:
        raise CommandError(f"no scalars to export into one file; there are {select.kinds(runs)}: give a directory for these")


def _show(written: Sequence[dict[str, Any]]) -> None:
    rows = [(each["file"], f"{each['rows']:,}", spell.count(each["files"]), spell.size(each["bytes"])) for each in written]
    table.show(("<table", ">rows", ">files beside it", ">size"), rows)
