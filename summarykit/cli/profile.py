"""Say where the time of training steps went, and what to do about it.

It reads what summarykit's profiler recorded, and traces of PyTorch (Kineto), JAX, MindSpore and Ascend devices: a file, a directory, or
several, which are then taken for the ranks of one training. With --compare there are two, from before a change and from after it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from summarykit.cli import spell
from summarykit.cli.outcome import OK, CommandError
from summarykit.cli.output import refuse_summary

if TYPE_CHECKING:
    from summarykit.profiler.analysis import Report
    from summarykit.profiler.recording import Recording


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("recordings", metavar="RECORDING", type=Path, nargs="+", help="a directory or a trace; several are ranks")
    parser.add_argument("--compare", action="store_true", help="compare two recordings: before and after a change")
    parser.add_argument("--json", action="store_true", help='print JSON: "ranks" with every table of each, "stragglers", "advice", "costs"')
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the report as one page that loads nothing")
    parser.add_argument("--timeline", metavar="FILE", type=Path, help="write a trace for Perfetto: trace.json.gz, say")
    parser.add_argument("--mindinsight", metavar="FOLDER", type=Path, help="write what MindInsight's pages read: <run>/profiler, say")


def run(args: argparse.Namespace) -> int:
    """Print the report, and write what was asked for."""
    from summarykit.profiler.intermediate import write_intermediate

    if args.compare:
        return _compare(args)
    outputs = [file for file in (args.html, args.timeline) if file]
    _refuse(outputs, args.recordings)
    report = _report(_ranked([_read(path) for path in args.recordings]))
    sys.stdout.write(report.to_json() + "\n" if args.json else str(report))
    if args.html:
        args.html.write_text(report.to_html(), encoding="ascii")
    if args.timeline:
        report.write_timeline(args.timeline)
    if args.mindinsight:
        outputs += write_intermediate([profile.recording for profile in report.last], args.mindinsight)
    for file in outputs:
        print(f"{file}: {spell.size(file.stat().st_size)}", file=sys.stderr if args.json else sys.stdout)
    return OK


def _compare(args: argparse.Namespace) -> int:
    if len(args.recordings) != 2 or args.html or args.timeline or args.mindinsight:
        raise CommandError("--compare takes two recordings, before and after, and neither --html nor --timeline nor --mindinsight")
    from summarykit.profiler.analysis import compare

    before, after = (_report(_read(path)) for path in args.recordings)
    found = compare(before, after)
    sys.stdout.write(found.to_json() + "\n" if args.json else str(found))
    return OK


def _read(path: Path) -> list[Recording]:
    from summarykit.profiler.merging import merged
    from summarykit.profiler.parsers import read

    found = merged(read(path))
    if not found:
        raise CommandError(f"{path}: holds no recording that is known (a profiler's output directory or a trace is needed)")
    return found


def _ranked(found: list[list[Recording]]) -> list[Recording]:
    """All recordings; where several paths say the same rank, each path is one, in the order in which they were given."""
    from dataclasses import replace

    ranks = [{recording.rank for recording in recordings} for recordings in found]
    if len(set.union(*ranks)) == sum(map(len, ranks)):
        return [recording for recordings in found for recording in recordings]
    return [replace(recording, rank=rank, world_size=len(found)) for rank, recordings in enumerate(found) for recording in recordings]


def _report(recordings: list[Recording]) -> Report:
    from summarykit.profiler.analysis import analyse

    return analyse(recordings)


def _refuse(outputs: list[Path], recordings: list[Path]) -> None:
    for file in outputs:
        refuse_summary(file)
        if file.resolve() in [path.resolve() for path in recordings]:
            raise CommandError(f"{file}: is what is to be read; give another name")
