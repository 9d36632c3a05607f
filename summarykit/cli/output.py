"""Where a command writes to."""

from __future__ import annotations

from pathlib import Path

from summarykit.cli.outcome import CommandError
from summarykit.local import refuse_url
from summarykit.reading.source import format_of


def refuse_filled(directory: Path) -> None:
    """Refuse a directory that holds something: old and new files would be taken for one whole.

    Raises:
        CommandError: it does, or it is a file.
        RemotePathError: it is a URL.
        OSError: it cannot be looked at.
    """
    refuse_url("OUT", directory)
    if directory.exists() and not directory.is_dir():
        raise CommandError(f"{directory}: is a file; give a directory, it is made if need be")
    if directory.is_dir() and any(directory.iterdir()):
        raise CommandError(f"{directory}: is not empty; give a new directory")


def refuse_summary(file: Path) -> None:
    """Refuse to write over what may be a summary file.

    Raises:
        CommandError: it has such a name.
        RemotePathError: it is a URL.
    """
    refuse_url("OUT", file)
    if format_of(file.name):
        raise CommandError(f"{file}: is named like a summary file; give another name")
    if file.is_dir():
        raise CommandError(f"{file}: is a directory; give a file")
