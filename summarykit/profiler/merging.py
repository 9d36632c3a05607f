"""One recording of what several writers told of one process in one window: our records and the traces beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers import read
from summarykit.profiler.recording import Recording, Spans, Table
from summarykit.shapes import Array, Ints

_TIMES = ("start", "end", "time", "fp_start", "bp_end")


def recorded(records: Path) -> list[Recording]:
    """Read what one rank recorded in one window, all in one where that can be.

    Args:
        records: the directory of its records, ``rank_<k>.profile``.

    Raises:
        OSError: it cannot be read.
    """
    beside = sorted(path for path in records.parent.iterdir() if path.name.startswith(f"{records.stem}."))
    return merged(recording for path in beside for recording in read(path))


def merged(recordings: Iterable[Recording]) -> list[Recording]:
    """Put what lies beside our own records on their clock and into them; the other recordings stay as they are.

    A trace lies beside records where it is in the same directory and its name begins with that of the records: ``rank_0.kineto.json``
    beside ``rank_0.profile``. Traces whose clock is not known stay apart, too.
    """
    found = list(recordings)
    ours = {(recording.path.parent, recording.path.stem): recording for recording in found if recording.source == "summarykit"}
    result, beside = [], []
    for recording in found:
        home = None if recording.source == "summarykit" else _home(recording, ours)
        if home is None:
            result.append(recording)
        else:
            beside.append((home, recording))
    for home, recording in beside:
        _add(home, recording)
    return result


def _home(recording: Recording, ours: dict[tuple[Path, str], Recording]) -> Recording | None:
    if recording.clock_offset is None:
        return None
    inside = (recording.path, *recording.path.parents)
    found = (ours.get((place.parent, place.name.partition(".")[0])) for place in inside)
    home = next((one for one in found if one is not None), None)
    return home if home is not None and home.clock_offset is not None else None


def _add(home: Recording, other: Recording) -> None:
    """Add spans and tables, moved to the clock of ``home``; a table that is there already is kept: ours knows the training's steps."""
    assert home.clock_offset is not None
    assert other.clock_offset is not None
    shift = other.clock_offset - home.clock_offset
    before = len(home.spans)
    home.spans = joined(home.spans, other.spans, shift)
    for name, table in other.tables.items():
        if name not in home.tables:
            home.tables[name] = _moved(table, shift, before)
    home.meta[other.source] = other.meta
    home.skipped += Counter({f"{other.source}: {reason}": count for reason, count in other.skipped.items()})


def joined(one: Spans, other: Spans, shift: int = 0) -> Spans:
    """Both in one; the times of ``other`` are moved by ``shift`` ns."""

    def both(name: str, more: int = 0) -> Array:
        first, second = getattr(one, name), getattr(other, name)
        return np.concatenate([first, second + more]).astype(first.dtype)

    return Spans(
        both("start", shift),
        both("duration"),
        both("name", len(one.names)),
        both("category"),
        both("lane", len(one.lanes)),
        both("correlation"),
        [*one.names, *other.names],
        [*one.lanes, *other.lanes],
    )


def _moved(table: Table, shift: int, before: int) -> Table:
    return Table({name: _column(name, column, shift, before) for name, column in table.items()})


def _column(name: str, column: Array | Ints, shift: int, before: int) -> Array:
    if name in _TIMES and np.issubdtype(column.dtype, np.integer):
        return np.where(column == -1, column, column + shift)
    return column + before if name == "span" else column
