"""Tables for people: aligned columns in the terminal."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

_GAP = 2
_NARROWEST = 12


def show(header: Sequence[str], rows: Iterable[Sequence[str]], *, indent: int = 0) -> None:
    """Print a table.

    Columns without content are left out. In a terminal that is too narrow, so are those that may be; then the widest texts are shortened.

    Args:
        header: a title per column, and before it ``">"`` (right-aligned), ``"<"`` (left-aligned, may be shortened in its middle) or ``"~"``
            (at its end); before that ``"?"`` where the column may be left out.
        rows: a text per column each.
        indent: blanks before each line.
    """
    for line in lines(header, rows, terminal_width() - indent if sys.stdout.isatty() else None):
        print(" " * indent + line)


def lines(header: Sequence[str], rows: Iterable[Sequence[str]], limit: int | None = None) -> Iterator[str]:
    """The lines of a table.

    Args:
        header: as ``show`` takes it.
        rows: a text per column each.
        limit: columns of the terminal, if any.
    """
    found = [_Column(title, [*map(clean, cells)]) for title, cells in zip(header, _transpose(rows, len(header)), strict=True)]
    columns = [column for column in found if any(column.cells)]
    if limit is not None and _width(columns) > limit:
        columns = [column for column in columns if not column.optional]
        _shorten(columns, _width(columns) - limit)
    for cells in zip(*(column.padded() for column in columns), strict=True):
        yield (" " * _GAP).join(cells).rstrip()


def clean(text: str) -> str:
    """Text on one line: what is no printable character (a terminal would obey it) becomes an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def width_of(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return len(text) if text.isascii() else sum(map(_width_of, text))


def _width_of(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def terminal_width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size((100, 24)).columns


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` columns of a text: its beginning and its end, an ellipsis between them."""
    if width_of(text) <= limit:
        return text
    head = _beginning(text, (limit - 1) // 2)
    tail = _beginning(text[::-1], limit - 1 - width_of(head))[::-1]
    return f"{head}…{tail}"


def _beginning(text: str, limit: int) -> str:
    """As much of a text as fits into so many columns."""
    left = limit
    for place, char in enumerate(text):
        left -= _width_of(char)
        if left < 0:
            return text[:place]
    return text


def _transpose(rows: Iterable[Sequence[str]], columns: int) -> list[Sequence[str]]:
    found = list(zip(*rows, strict=True))
    return list(found) or [()] * columns


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + _GAP * (len(columns) - 1)


def _shorten(columns: Sequence[_Column], excess: int) -> None:
    """Take what is too much from the widest text, and what that cannot give from the next; where lines break anyway, not from these."""
    texts = sorted((column for column in columns if column.side != ">"), key=lambda column: -column.width)
    enough = sum(max(column.width - _NARROWEST, 0) for column in texts) >= excess
    for column in texts if enough else texts[:1]:
        if excess > 0:
            before = column.width
            column.shorten(max(before - excess, _NARROWEST))
            excess -= before - column.width


class _Column:
    def __init__(self, title: str, cells: list[str]) -> None:
        self.optional = title[0] == "?"
        self.side, self.title = title.lstrip("?")[0], title.lstrip("?")[1:]
        self.cells = cells

    @property
    def width(self) -> int:
        """Characters of its widest cell."""
        return max(map(width_of, [self.title, *self.cells]))

    def shorten(self, limit: int) -> None:
        """Cut what is longer than so many characters."""
        self.cells = [shorten(cell, limit) if self.side == "<" else _cut(cell, limit) for cell in self.cells]

    def padded(self) -> list[str]:
        """Title and cells, all of the same width."""
        cells, width = [self.title, *self.cells], self.width
        blanks = [" " * (width - width_of(cell)) for cell in cells]
        return [blank + cell if self.side == ">" else cell + blank for cell, blank in zip(cells, blanks, strict=True)]


def _cut(text: str, limit: int) -> str:
    """At most ``limit`` columns of a text: its beginning, and an ellipsis."""
    return text if width_of(text) <= limit else f"{_beginning(text, limit - 1)}…"
