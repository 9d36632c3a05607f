"""A folder with files that were made for MindInsight of some other recording: they are no recording, but folders below may hold some."""

from __future__ import annotations

from pathlib import Path

from summarykit.profiler.parsers.reading import read
from summarykit.profiler.recording import Recording

MARK = b'"library": "summarykit"'


def sniff(path: Path) -> bool:
    """Whether its ``profiler_info_<d>.json`` says that we made it."""
    try:
        return path.is_dir() and any(MARK in info.read_bytes()[:4096] for info in path.glob("profiler_info_*.json"))
    except OSError:
        return False


def parse(path: Path) -> list[Recording]:
    """Read the folders below.

    Raises:
        OSError: a file cannot be read.
    """
    return [recording for entry in sorted(path.iterdir()) if entry.is_dir() for recording in read(entry)]
