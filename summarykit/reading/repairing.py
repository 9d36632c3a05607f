"""Clean copies of damaged files: every sound record, nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from summarykit.local import path_text, refuse_url
from summarykit.reading.report import FileReport, Report
from summarykit.reading.verification import Progress, files_at, scan

_PIECE = 4 << 20


def repair(path: str | os.PathLike[str], out_dir: str | os.PathLike[str], *, progress: Progress | None = None) -> Report:
    """Copy every sound record of one summary file, or of all at or below a directory, into files of the same names.

    The originals are never touched. Files that are no summary files are not copied.

    Args:
        path: a directory, or one file.
        out_dir: where the copies go, in the same tree; made if need be.
        progress: told how far the checking is.

    Returns:
        What was found in the originals (the damage is what the copies lack), and the files that were ``written``.

    Raises:
        FileNotFoundError: there is no such path.
        ValueError: ``out_dir`` lies in ``path``: the copies would stand among the originals.
        FileExistsError: there is a file where a copy would go.
        OSError: a file cannot be read or written.
    """
    base, out = Path(path_text("path", path)), Path(path_text("out_dir", out_dir))
    found = [scan(file, progress) for file in files_at(base)]
    top = base if base.is_dir() else base.parent
    refuse_inside(top, out_dir)
    written = [_copy(report, out / report.path.relative_to(top)) for report in found]
    return replace(Report(found), written=written)


def refuse_inside(source: Path, out: str | os.PathLike[str]) -> None:
    """Refuse to write among the files that are read.

    Raises:
        ValueError: ``out`` is ``source`` or below it, or a URL.
    """
    refuse_url("out_dir", out)
    if Path(out).resolve().is_relative_to(source.resolve()):
        raise ValueError(f"out_dir {str(out)!r} is inside {str(source)!r}: give a directory outside of it")


def _copy(report: FileReport, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(report.path, "rb") as original, open(target, "xb") as copy:
        begin = 0
        for lost in report.damage:
            _copy_range(original, copy, begin, lost.offset)
            begin = lost.end
        _copy_range(original, copy, begin, report.bytes if report.truncated is None else report.truncated)
    return target


def _copy_range(original: BinaryIO, copy: BinaryIO, begin: int, end: int) -> None:
    original.seek(begin)
    while begin < end:
        piece = original.read(min(_PIECE, end - begin))
        if not piece:
            raise OSError(f"{original.name} became shorter while it was copied")
        copy.write(piece)
        begin += len(piece)
