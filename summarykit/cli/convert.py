"""Write runs in the other format: MindSpore's files as TensorBoard's, or back.

One file for each run, in the same tree below OUT, with the points that count after restarts (--raw: all points), by ascending step.
What the other format has no place for is left out and told.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from summarykit.cli import spell, table
from summarykit.cli.outcome import OK, CommandError, complain
from summarykit.cli.output import refuse_filled
from summarykit.cli.progress import Progress
from summarykit.cli.select import look_at, nothing_at
from summarykit.reading import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from summarykit.formats import FORMATS

    parser.add_argument("source", metavar="SOURCE", type=Path, help="a run, a directory with runs below it, or one summary file")
    parser.add_argument("out", metavar="OUT", type=Path, help="a new directory for the files, outside of SOURCE")
    parser.add_argument("--to", required=True, choices=FORMATS.names(), help="the format to write")
    parser.add_argument("--raw", action="store_true", help="all points of all files, also those that a restarted run recorded anew")
    parser.add_argument("--json", action="store_true", help='print JSON: "written", "left_out" (kind: points), "damaged" files')


def run(args: argparse.Namespace) -> int:
    """Write the files."""
    from summarykit.reading import convert

    look_at(args.source)
    refuse_filled(args.out)
    with Progress("converting"):
        try:
            report = convert(args.source, args.out, args.to, raw=args.raw)
        except ValueError as error:
            raise CommandError(str(error)) from error
    if not report.written:
        raise nothing_at(args.source)
    _warn(report)
    if args.json:
        spell.print_json(document(report))
    else:
        _show(report, args.to)
    return OK


def document(report: Report) -> dict[str, Any]:
    """For JSON."""
    return {
        "written": [{"file": str(file), "bytes": file.stat().st_size} for file in report.written],
        "left_out": report.left_out,
        "damaged": [str(file.path) for file in report.files if not file.ok],
    }


def _show(report: Report, form: str) -> None:
    for file in report.written:
        print(f"{table.clean(str(file))}  {spell.size(file.stat().st_size)}")
    left_out = ", ".join(f"{number:,} of {kind}" for kind, number in report.left_out.items())
    print(f"\n{spell.some(len(report.written), 'file')} written{f'; {form} has no place for points: {left_out}' if left_out else ''}.")


def _warn(report: Report) -> None:
    damaged = [file for file in report.files if not file.ok]
    if damaged:
        complain(f"warning: {spell.some(len(damaged), 'damaged file')}, what is sound was converted ('summarykit verify' tells more)")
