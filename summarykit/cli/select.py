"""Which runs and tags a command is about."""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from summarykit.cli.outcome import CommandError
from summarykit.cli.progress import Progress
from summarykit.local import refuse_url
from summarykit.reading import Run
from summarykit.reading import runs as all_runs

Runs = dict[str, Run]
"""Runs by name: the path from the base directory, ``"."`` for that one itself."""


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Declare ``BASE``, ``--run`` and ``--raw``."""
    parser.add_argument("base", metavar="BASE", type=Path, help="a run, a directory with runs below it, or one summary file")
    parser.add_argument("--run", metavar="GLOB", action="append", help="only runs with such a name: 'lr-*'; may be repeated")
    parser.add_argument("--raw", action="store_true", help="all points of all files, also those that a restarted run recorded anew")


def add_tags(parser: argparse.ArgumentParser) -> None:
    """Declare ``--tag`` and ``--kind``."""
    parser.add_argument("--tag", metavar="TAG", action="append", help="only this tag, or tags like it: 'layer*/weight'; may be repeated")
    parser.add_argument("--kind", metavar="KIND", action="append", help="only this kind: scalar, histogram, image, ...; may be repeated")


def open_runs(args: argparse.Namespace, *, read: bool = True) -> Runs:
    """Find the runs that are asked for, and read them.

    Raises:
        CommandError: there are none.
        OSError: the directory or a file cannot be read.
    """
    return dict(each_run(args, read=read))


def each_run(args: argparse.Namespace, *, read: bool = True) -> Iterator[tuple[str, Run]]:
    """Find the runs that are asked for, and read one after the other (or leave that to the caller).

    Raises:
        CommandError: there are none.
        OSError: the directory or a file cannot be read.
    """
    found = _found(args.base)
    names = [name for name in sorted(found, key=_natural) if not args.run or any(fnmatchcase(name, pattern) for pattern in args.run)]
    if not names:
        raise CommandError(f"no run is named {' or '.join(map(repr, args.run))}; {alike(args.run[0], list(found))}")
    with Progress("reading run") as progress:
        for name in progress.over(names):
            run = Run(found[name], raw=args.raw)    # anew, so that a caller who is done with it can let it go
            if read:
                run.tags()    # what cannot be read is told now
            yield name, run


def tags_of(run: Run, args: argparse.Namespace) -> list[tuple[str, str]]:
    """Kind and tag of what is asked for in a run."""
    every = [(kind, tag) for kind, tags in run.tags().items() for tag in tags if not args.kind or kind in args.kind]
    return [(kind, tag) for kind, tag in every if not args.tag or any(_matches(tag, wanted, every) for wanted in args.tag)]


def expect_tags(runs: Runs, args: argparse.Namespace) -> None:
    """Complain about each tag that no run has.

    Raises:
        CommandError: there is one.
    """
    every = list(dict.fromkeys(key for run in runs.values() for key in tags_of(run, argparse.Namespace(kind=args.kind, tag=None))))
    for wanted in args.tag or ():
        if not any(_matches(tag, wanted, every) for _, tag in every):
            what = f"{' or '.join(args.kind)} " if args.kind else ""
            raise CommandError(f"no {what}tag {wanted!r}; {alike(wanted, [tag for _, tag in every])}")
    if not every and args.kind:
        raise CommandError(f"no {' or '.join(args.kind)} in these runs; there are {kinds(runs)}")


def kinds(runs: Runs) -> str:
    """The kinds in some runs."""
    return ", ".join(dict.fromkeys(kind for run in runs.values() for kind in run.tags())) or "no points at all"


def alike(wanted: str, names: Sequence[str]) -> str:
    """What there is instead."""
    found = difflib.get_close_matches(wanted, names, 5, 0.3) or list(names[:5])
    return f"there are {', '.join(map(repr, found))}{' ...' if len(names) > len(found) else ''}" if found else "there are none"


def _matches(tag: str, wanted: str, every: Sequence[tuple[str, str]]) -> bool:
    """Equal; where no tag is, ``*`` and ``?`` stand for any characters."""
    return tag == wanted or (all(each != wanted for _, each in every) and fnmatchcase(tag, wanted))


def _natural(name: str) -> list[tuple[str, int]]:
    """``run-2`` comes before ``run-10``."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d{0,18})", name)]


def look_at(path: Path) -> None:
    """Tell why a path cannot be read, where it cannot.

    Raises:
        OSError: the system says so.
        RemotePathError: it is a URL.
    """
    try:
        os.stat(path)
    except FileNotFoundError:
        refuse_url("path", path)
        raise


def _found(base: Path) -> dict[str, Path]:
    look_at(base)
    found = {name: run.path for name, run in all_runs(base).items()} if base.is_dir() else {base.name: base}
    if not found:
        raise nothing_at(base)
    return found


def nothing_at(base: Path) -> CommandError:
    """The error of a directory without summary files."""
    names = "MindSpore's have 'summary.<digits>' in their names, TensorBoard's 'tfevents'"
    return CommandError(f"{base}: no summary files here or below ({names})")
