"""What the values of a track stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from summarykit.reading import stored
from summarykit.reading.files import Files
from summarykit.reading.index import Entry
from summarykit.reading.source import Source, place
from summarykit.reading.stored import StoredTensor
from summarykit.shapes import Scalar, Shape, Tensor


class Reader:
    """Decodes values of the tracks of a run: float64 is a scalar, int64 the number of a file and of an entry in it."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def shape(self, value: Any) -> Shape:
        """The shape.

        Raises:
            OSError: its file cannot be read (any more).
        """
        if isinstance(value, float):
            return Scalar(float(value))
        source, entry = self._entry(value)
        return source.decode(entry)

    def stored(self, value: Any) -> StoredTensor:
        """A tensor, still in its file.

        Raises:
            KeyError: there is something else under that tag.
            OSError: its file cannot be read (any more).
        """
        source, entry = self._entry(value)
        found = stored.in_file(source.path, entry.offset, entry.length, source.format)
        if found is not None:
            return found
        shape = source.decode(entry)
        if not isinstance(shape, Tensor):
            raise KeyError(f"tensor {entry.tag!r} at step {entry.step} holds bytes that are no array: take the point by its index")
        return stored.of_tensor(shape)

    def path(self, value: Any) -> Path:
        """The file that a value is in; it is no scalar."""
        return self._entry(value)[0].path

    def _entry(self, value: Any) -> tuple[Source, Entry]:
        number, entry = place(int(value))
        source = next(each for each in self._files.sources if each.number == number)
        return source, source.entries[entry]
