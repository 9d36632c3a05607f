"""Finds recordings at a path, and reads each with the parser that knows it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from summarykit.profiler.parsers.files import beginning
from summarykit.profiler.parsers.known import PARSERS
from summarykit.profiler.parsers.parser import Parser
from summarykit.profiler.recording import Recording
from summarykit.profiler.timeline import MARK


def read(path: str | os.PathLike[str]) -> list[Recording]:
    """Read every recording at a path.

    Args:
        path: a file, a directory that one parser knows as a whole, or a directory with such files and directories below it.

    Returns:
        The recordings, by rank and then by path; none where no parser knows anything there.

    Raises:
        OSError: there is nothing at the path, or a file that a parser knows cannot be read.
    """
    start = Path(path)
    os.stat(start)
    found = [recording for place, parser in _known(start) for recording in parser.parse(place)]
    return sorted(found, key=lambda recording: (recording.rank, str(recording.path)))


def _known(path: Path) -> Iterator[tuple[Path, Parser]]:
    """What parsers know at a path and, where none knows the path itself, below it."""
    parser = next((each for each in map(PARSERS.get, PARSERS) if each.sniff(path)), None)
    if parser is not None:
        yield path, parser
    elif path.is_dir():
        for entry in _entries(path):
            yield from _known(entry)


def _entries(directory: Path) -> list[Path]:
    """What is in a directory, but timelines that we made; JAX writes the same twice, and the trace for Perfetto has less of it."""
    found = sorted(entry for entry in directory.iterdir() if not (entry.match("*.json*") and MARK in beginning(entry, 256)))
    twice = {entry.name.removesuffix(".xplane.pb") + ".trace.json.gz" for entry in found if entry.name.endswith(".xplane.pb")}
    return [entry for entry in found if entry.name not in twice]
