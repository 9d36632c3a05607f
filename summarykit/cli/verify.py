"""Check every record of every summary file, by its checksums.

One line for each file; the exit code is 0 where all are sound, 1 where one is damaged, 2 where there is nothing to read.
A file that ends within a record is "growing" where its writer may be about to complete it (it lives, or the file changed within the last
minute): that is no damage. Else it is "torn": the writer was killed or the disk was full.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from summarykit.cli import spell, table
from summarykit.cli.growing import is_growing
from summarykit.cli.outcome import DAMAGE, OK, CommandError
from summarykit.cli.progress import Progress
from summarykit.cli.select import look_at, nothing_at
from summarykit.reading import FileReport, Report

_HEADER = ("<file", "<format", ">records", ">size", "<state")
_MOST = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("base", metavar="BASE", type=Path, help="a run, a directory with runs below it, or one summary file")
    parser.add_argument("--json", action="store_true", help='print JSON: "ok", "records", "bytes", and "files" with the damage of each')


def run(args: argparse.Namespace) -> int:
    """Check the files."""
    from summarykit.reading import verify

    look_at(args.base)
    with Progress("checking") as progress:
        report = verify(args.base, progress=progress.of_file)
    _expect_something(args.base, report)
    states = [state(file) for file in report.files]
    sound = all(each in ("ok", "growing") for each in states)
    if args.json:
        spell.print_json(document(report, states, sound))
    else:
        _show(args.base, report, states)
    return OK if sound else DAMAGE


def state(file: FileReport) -> str:
    """``"ok"``, ``"growing"``, ``"torn"`` or ``"damaged"``."""
    if file.damage:
        return "damaged"
    if file.truncated is None:
        return "ok"
    return "growing" if is_growing(file.path) else "torn"


def document(report: Report, states: list[str], sound: bool) -> dict[str, Any]:
    """For JSON."""
    files = [facts(file) | {"state": each} for file, each in zip(report.files, states, strict=True)]
    return {"ok": sound, "records": report.records, "bytes": report.bytes, "files": files}


def facts(file: FileReport) -> dict[str, Any]:
    """What is to be said of a file; offsets and lengths in bytes."""
    damage = [{"offset": each.offset, "length": each.length, "reason": each.reason, "records": each.records} for each in file.damage]
    return {
        "file": str(file.path),
        "format": file.format,
        "records": file.records,
        "bytes": file.bytes,
        "damage": damage,
        "truncated": file.truncated,
    }


def places(file: FileReport) -> Iterator[str]:
    """A line for each damaged place."""
    for each in file.damage[:_MOST]:
        yield f"{each.length:,} bytes at {each.offset:,}: {each.reason}, {spell.some(each.records, 'record')} lost"
    if len(file.damage) > _MOST:
        yield f"and {len(file.damage) - _MOST:,} more places (--json lists all)"
    if file.truncated is not None:
        yield f"ends within a record that begins at {file.truncated:,} ({file.bytes - file.truncated:,} bytes of it are there)"


def _expect_something(base: Path, report: Report) -> None:
    if not report.files:
        raise nothing_at(base)
    if base.is_file() and not report.records and report.bytes and report.files[0].format is None:
        raise CommandError(f"{base}: is no summary file, it holds no record at all")


def _show(base: Path, report: Report, states: list[str]) -> None:
    names = [_name(file.path, base) for file in report.files]
    rows = [
        (name, file.format or "unknown", f"{file.records:,}", spell.size(file.bytes), _told(each))
        for name, file, each in zip(names, report.files, states, strict=True)
    ]
    table.show(_HEADER, rows)
    for name, file in zip(names, report.files, strict=True):
        if not file.ok:
            print(f"\n{table.clean(name)}:")
        for line in places(file):
            print(f"  {line}")
    total = f"{spell.some(len(names), 'file')}, {spell.some(report.records, 'sound record')}, {spell.size(report.bytes)}"
    print(f"\n{total}: {_verdict(states)}")


def _told(state: str) -> str:
    return state if state in ("ok", "growing") else f"! {state}"


def _verdict(states: list[str]) -> str:
    bad = sum(each in ("torn", "damaged") for each in states)
    return f"{spell.some(bad, 'damaged file')} ('summarykit repair' copies what is sound)" if bad else "all sound"


def _name(path: Path, base: Path) -> str:
    return path.relative_to(base).as_posix() if base.is_dir() else path.name
