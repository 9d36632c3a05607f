"""Copy every sound record of damaged files into new ones.

The copies have the names of the originals, in the same tree below OUT; the originals are never touched.
What was lost is told; the exit code is 0 once the copies are written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from summarykit.cli import spell, table
from summarykit.cli.outcome import OK, CommandError
from summarykit.cli.output import refuse_filled
from summarykit.cli.progress import Progress
from summarykit.cli.select import look_at, nothing_at
from summarykit.cli.verify import facts, places
from summarykit.reading import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="SOURCE", type=Path, help="a run, a directory with runs below it, or one summary file")
    parser.add_argument("out", metavar="OUT", type=Path, help="a new directory for the copies, outside of SOURCE")
    parser.add_argument("--json", action="store_true", help='print JSON: "files", each with the damage found and the copy "written"')


def run(args: argparse.Namespace) -> int:
    """Write the copies."""
    from summarykit.reading import repair

    look_at(args.source)
    refuse_filled(args.out)
    with Progress("repairing") as progress:
        try:
            report = repair(args.source, args.out, progress=progress.of_file)
        except ValueError as error:
            raise CommandError(str(error)) from error
    if not report.files:
        raise nothing_at(args.source)
    if args.json:
        spell.print_json({"files": [facts(file) | {"written": str(copy)} for file, copy in zip(report.files, report.written, strict=True)]})
    else:
        _show(report)
    return OK


def _show(report: Report) -> None:
    for file, copy in zip(report.files, report.written, strict=True):
        print(f"{table.clean(str(copy))}: {spell.some(file.records, 'record')}, {'as the original' if file.ok else 'left out:'}")
        for line in places(file):
            print(f"  {line}")
    bad = sum(not file.ok for file in report.files)
    print(f"\n{spell.some(len(report.files), 'file')} copied, {bad:,} of them repaired.")
