"""Several graphs of one run: the first tag's is the run's own, the others are shown beside it.

In a summary both viewers have one graph, the newest. TensorBoard shows others under their tags (where TensorFlow puts the functions that
it traced), MindInsight those of files ``*.pb`` in the run's directory, under the files' names.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from summarykit.registry import imported
from summarykit.shapes import Graph, Point

_LONGEST = 100    # characters of a file's name


class Graphs:
    """The graphs that one writer has written."""

    def __init__(self, directory: str, formats: Iterable[str]) -> None:
        """Nothing is made before the second graph."""
        self._directory = Path(directory)
        self._files = "mindspore" in formats
        self._first: str | None = None

    def place(self, point: Point) -> Point:
        """Give the point as it is to be recorded; of a further tag's graph MindInsight's file is written.

        Raises:
            OSError: it could not be written.
        """
        graph = point.value
        assert isinstance(graph, Graph)
        if self._first is None and not graph.beside:
            self._first = point.tag
        if point.tag == self._first:
            return point
        if self._files:
            self._write(point.tag, imported("summarykit.formats.mindspore.graph").as_file(graph))
        return replace(point, value=replace(graph, beside=True))

    def _write(self, tag: str, content: bytes) -> None:
        """Into a file that was not there: others' are never touched."""
        stem = re.sub(r"[^\w.-]", "_", tag, flags=re.ASCII)[:_LONGEST]
        for name in itertools.chain([f"{stem}.pb"], (f"{stem}_{number}.pb" for number in itertools.count(2))):
            path = self._directory / name
            with suppress(FileExistsError):
                path.touch(exist_ok=False)
                _fill(path, content)
                return


def _fill(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except BaseException:
        path.unlink(missing_ok=True)    # half a graph is worse than none, and the disk may be full
        raise
