"""Are the files sound?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from summarykit.local import path_text, refuse_url
from summarykit.reading.files import run_directories, summary_files
from summarykit.reading.report import FileReport, Report
from summarykit.reading.scan import Scanner
from summarykit.reading.source import format_of

Progress = Callable[[Path, int, int], None]
"""Called now and then with a file, the bytes of it that are done, and its size."""


def verify(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Report:
    """Check every checksum of one summary file, or of all at or below a directory.

    Args:
        path: a directory, or one file, whatever its name.
        progress: told how far it is.

    Raises:
        FileNotFoundError: there is no such path.
        OSError: a file cannot be read.
    """
    return Report([scan(file, progress) for file in files_at(path)])


def files_at(path: str | os.PathLike[str]) -> Iterator[Path]:
    """One file, or every summary file at or below a directory, by name.

    Raises:
        FileNotFoundError: there is no such path.
        RemotePathError: it is a URL.
    """
    base = Path(path_text("path", path))
    if not base.exists():
        refuse_url("path", path)
        raise FileNotFoundError(f"path {os.fspath(path)!r}: no such file or directory")
    directories = run_directories(base) if base.is_dir() else [base]
    return (file for directory in directories for file in summary_files(directory))


def scan(file: Path, progress: Progress | None = None) -> FileReport:
    """Check one file."""
    scanner = Scanner(file)
    for _ in scanner.poll():
        if progress is not None:
            progress(file, scanner.offset, scanner.size)
    if progress is not None:
        progress(file, scanner.size, scanner.size)
    return FileReport(file, format_of(file.name), scanner.records, scanner.size, scanner.damage, scanner.truncated)
