"""Aligned text: tables, bars and figures for the terminal."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence

_GAP = "  "


def sheet(header: Sequence[str], rows: Iterable[Sequence[str]], indent: int = 2) -> list[str]:
    """The lines of a table, without the columns in which nothing is.

    Args:
        header: a title per column, of which none need be there; ``"<"`` before it puts the column to the left.
        rows: a text per column each.
        indent: blanks before each line.
    """
    cells = [[_clean(cell) for cell in row] for row in rows]
    filled = [place for place in range(len(header)) if not cells or any(row[place] for row in cells)]
    header = [header[place] for place in filled]
    titles = [title.lstrip("<") for title in header]
    found = [*([titles] if any(titles) else []), *([row[place] for place in filled] for row in cells)]
    widths = [max(map(len, column)) for column in zip(*found, strict=True)]
    left = [title.startswith("<") for title in header]
    lines = [
        _GAP.join(cell.ljust(width) if to_left else cell.rjust(width) for cell, width, to_left in zip(row, widths, left, strict=True))
        for row in found
    ]
    return [" " * indent + line.rstrip() for line in lines]


def number(value: float) -> str:
    """About three digits, never an exponent: ``"0.031"``, ``"1.25"``, ``"69.4"``, ``"1,234"``, ``"<0.001"``; nothing for NaN."""
    if not math.isfinite(value):
        return ""
    size = abs(value)
    if size >= 99.95:
        return f"{value:,.0f}"
    if 0 < size < 0.0005:
        return "<0.001" if value > 0 else ">-0.001"
    decimals = 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
    return f"{value:.{decimals}f}" if value else "0"


def share(value: float) -> str:
    """A share in percent; nothing for NaN."""
    return f"{value:.1%}" if math.isfinite(value) else ""


def spread(value: float) -> str:
    """The same, or how many times as much where percent would be unreadable: ``"126x"``."""
    return share(value) if value < 10 else f"{number(value)}x"


def size(value: float) -> str:
    """Bytes, in thousands: ``"1.3 GB"``."""
    units = ("B", "kB", "MB", "GB", "TB")
    place = 0
    while abs(value) >= 999.5 and place < len(units) - 1:
        value, place = value / 1000, place + 1
    return f"{value:.0f} {units[place]}" if not place or abs(value) >= 99.5 else f"{value:.1f} {units[place]}"


def unit(counter: str) -> Callable[[float], str]:
    """How to spell a counter's values, by its name: in bytes, in per cent, or as they are."""
    name = counter.rpartition("/")[2]
    if name.startswith(("memory", "read", "written", "bytes", "allocated", "reserved")):
        return size
    return _percent if re.fullmatch(r"cpu(_\d+)?|utilization", name) else _count


def _count(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() else number(value)


def _percent(value: float) -> str:
    return f"{number(value)}%" if math.isfinite(value) else ""


def adds_up(counter: str) -> bool:
    """Whether a counter tells of all that came since the window began, by its name: only its last value says something then."""
    return counter.rpartition("/")[2] in ("read", "written", "switches_voluntary", "switches_involuntary")


def bar(value: float, width: int = 24) -> str:
    """A share as a bar; what is not 0 is seen."""
    eighths = math.ceil(min(max(value, 0.0), 1.0) * width * 8) if math.isfinite(value) else 0
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def cut(text: str, width: int = 56) -> str:
    """A name on one line, its middle left out where it is long."""
    text = _clean(text)
    half = (width - 1) // 2
    return text if len(text) <= width else f"{text[:half]}…{text[len(text) - (width - 1 - half) :]}"


def short_file(path: str) -> str:
    """A source file's path, that of a library without the place where it is installed."""
    return re.split(r"(?:site|dist)-packages[\\/]", path)[-1]


def wrapped(text: str, first: str, indent: int, width: int = 110) -> list[str]:
    """A text in lines, ``first`` before the first one and blanks before the others."""
    return textwrap.wrap(_clean(text), width, initial_indent=first, subsequent_indent=" " * indent, break_long_words=False)


def _clean(text: str) -> str:
    """On one line: what is no printable character (a terminal would obey it) becomes an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
