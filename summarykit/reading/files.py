"""The summary files of one directory, as far as they were read."""

from __future__ import annotations

import contextlib
from pathlib import Path

from summarykit.formats.tensorboard.parse import Plugins
from summarykit.reading.source import Key, Source, format_of
from summarykit.reading.track import Track


class Files:
    """The summary files of a directory (or a single file); ``poll`` finds new ones and reads on in all of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sources: list[Source] = []
        self.plugins: Plugins = {}

    def poll(self) -> list[tuple[Source, dict[Key, Track]]]:
        """Look for what is new.

        Returns:
            For each file with new points these by kind and tag.

        Raises:
            OSError: a file cannot be read.
        """
        known = {source.path for source in self.sources}
        new = [path for path in summary_files(self.path) if path not in known]
        self.sources += [Source(path, self.plugins, number) for number, path in enumerate(new, len(known))]
        self.sources.sort(key=lambda source: source.path.name)
        news = []
        for source in self.sources:
            with contextlib.suppress(FileNotFoundError):    # what was read of a file outlives it
                news.append((source, source.poll()))
        return news


def summary_files(path: Path) -> list[Path]:
    """The summary files of a directory, by name; a path of a file stands for itself."""
    if path.is_dir():
        return sorted(each for each in path.iterdir() if format_of(each.name) and each.is_file())
    return [path]


def run_directories(base: Path) -> list[Path]:
    """Every directory at or below ``base`` that holds summary files, by name; links are followed, each directory is entered once."""
    found, seen, waiting = [], set(), [base]
    while waiting:
        directory = waiting.pop()
        real = directory.resolve()
        if real in seen:
            continue
        seen.add(real)
        try:
            below = sorted(directory.iterdir())
        except OSError:    # not ours to read, or gone meanwhile
            continue
        if any(format_of(each.name) and each.is_file() for each in below):
            found.append(directory)
        waiting += [each for each in below if each.is_dir()]
    return sorted(found)
