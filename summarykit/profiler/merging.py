"""One recording of what several writers told of one process in one window: our records and the traces beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.parsers import read
from summarykit.profiler.recording import Recording, Spans, Table
from summarykit.shapes import Array, Ints

OURS = "summarykit"
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
    """Put what lies beside our own records on their clock and with them into new ones; the other recordings stay as they are.

    A trace lies beside records where it is in the same directory and its name begins with that of the records: ``rank_0.kineto.json``
    beside ``rank_0.profile``. Where its clock cannot be told it stays apart, too.
    """
    found = list(recordings)
    result = [_copy(recording) for recording in found if recording.source == OURS]
    ours = {(recording.path.parent, recording.path.stem): recording for recording in result}
    for recording in [one for one in found if one.source != OURS]:
        home = _home(recording, ours)
        shift = None if home is None else clock_shift(home, recording)
        if home is None or shift is None:
            result.append(recording)
        else:
            _add(home, recording, shift)
    return result


def _copy(one: Recording) -> Recording:
    """One that can be added to: nobody else's tables change."""
    return replace(one, tables=dict(one.tables), meta=dict(one.meta), skipped=Counter(one.skipped))


def clock_shift(home: Recording, other: Recording) -> int | None:
    """What is to be added to the times of ``other`` for the clock of ``home``, in ns; None where that cannot be told.

    By both clocks' distance from the wall clock; else by the ends of steps that both know; else, where the times of ``other`` as they
    are lie within the window by the wall clock, by that.
    """
    if home.clock_offset is None:
        return None
    if other.clock_offset is not None:
        return other.clock_offset - home.clock_offset
    return _by_steps(home, other) or _by_wall(home, other)


def _by_steps(home: Recording, other: Recording) -> int | None:
    ours, theirs = home.tables.get("steps"), other.tables.get("steps")
    if not (ours and theirs):
        return None
    common, left, right = np.intersect1d(ours["step"], theirs["step"], return_indices=True)
    return int(np.median(ours["end"][left] - theirs["end"][right])) if len(common) else None


def _by_wall(home: Recording, other: Recording) -> int | None:
    started, ended = home.meta.get("started"), home.meta.get("ended")
    if not (isinstance(started, dict) and isinstance(ended, dict) and len(other.spans) and home.clock_offset is not None):
        return None
    inside = started["wall"] <= other.spans.start.min() and other.spans.start.max() <= ended["wall"]
    return -home.clock_offset if inside else None


def _home(recording: Recording, ours: dict[tuple[Path, str], Recording]) -> Recording | None:
    """Whose records it lies beside: it, or a directory that it is in."""
    found = (ours.get((place.parent, place.name.partition(".")[0])) for place in (recording.path, *recording.path.parents))
    return next((one for one in found if one is not None), None)


def _add(home: Recording, other: Recording, shift: int) -> None:
    """Add spans and tables, moved by ``shift``; a table that is there already is kept: ours knows the training's steps."""
    before = len(home.spans)
    home.spans = joined(home.spans, other.spans, shift)
    for name, table in other.tables.items():
        if name not in home.tables:
            home.tables[name] = _moved(table, shift, before)
    home.meta[other.source] = other.meta
    home.skipped += Counter({f"{other.source}: {reason}": count for reason, count in other.skipped.items()})


def joined(one: Spans, other: Spans, shift: int = 0) -> Spans:
    """Both in one; the times of ``other`` are moved by ``shift`` ns."""

    def both(name: str, kind: type[np.integer[Any]], more: int = 0) -> Array:
        """A column of both, one behind the other."""
        first, second = getattr(one, name), getattr(other, name)
        return np.concatenate([first, second.astype(kind) + kind(more)], dtype=kind)

    return Spans(
        both("start", np.int64, shift),
        both("duration", np.int64),
        both("name", np.int32, len(one.names)),
        both("category", np.uint8),
        both("lane", np.int32, len(one.lanes)),
        both("correlation", np.int64),
        [*one.names, *other.names],
        [*one.lanes, *other.lanes],
    )


def _moved(table: Table, shift: int, before: int) -> Table:
    return Table({name: _column(name, column, shift, before) for name, column in table.items()})


def _column(name: str, column: Array | Ints, shift: int, before: int) -> Array:
    if name in _TIMES and np.issubdtype(column.dtype, np.integer):
        return np.where(column == -1, column, column + shift)
    return column + before if name == "span" else column
