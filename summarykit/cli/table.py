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

    Columns without content are left out. In a terminal that is too narrow the widest left-aligned column is shortened; in a pipe, none.

    Args:
        header: a title per column, with ``"<"`` (left-aligned) or ``">"`` (right-aligned) before it.
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
    columns = [[title, *map(clean, cells)] for title, cells in zip(header, _transpose(rows, len(header)), strict=True)]
    columns = [column for column in columns if any(column[1:])]
    if limit is not None:
        _shorten(columns, limit)
    padded = [_pad(column) for column in columns]
    for cells in zip(*padded, strict=True):
        yield (" " * _GAP).join(cells).rstrip()


def clean(text: str) -> str:
    """Text on one line: what is no printable character (a terminal would obey it) becomes an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def width_of(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def terminal_width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size((100, 24)).columns


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` columns of a text: its beginning and its end, an ellipsis between them."""
    if width_of(text) <= limit:
        return text
    head, tail = text, text
    while width_of(head) > (limit - 1) // 2:
        head = head[:-1]
    while width_of(tail) > limit - 1 - width_of(head):
        tail = tail[1:]
    return f"{head}…{tail}"


def _transpose(rows: Iterable[Sequence[str]], columns: int) -> list[Sequence[str]]:
    found = list(zip(*rows, strict=True))
    return list(found) or [()] * columns


def _shorten(columns: list[list[str]], limit: int) -> None:
    """Take what is too much from the widest left-aligned column."""
    widths = [max(width_of(cell) for cell in [column[0][1:], *column[1:]]) for column in columns]
    excess = sum(widths) + _GAP * (len(widths) - 1) - limit
    left = [place for place, column in enumerate(columns) if column[0][0] == "<"]
    if excess > 0 and left:
        widest = max(left, key=lambda place: widths[place])
        room = max(widths[widest] - excess, _NARROWEST)
        columns[widest][1:] = [shorten(cell, room) for cell in columns[widest][1:]]


def _pad(column: list[str]) -> list[str]:
    side, title = column[0][0], column[0][1:]
    cells = [title, *column[1:]]
    width = max(map(width_of, cells))
    blanks = [" " * (width - width_of(cell)) for cell in cells]
    return [cell + blank if side == "<" else blank + cell for cell, blank in zip(cells, blanks, strict=True)]
