"""Recordings and traces made by hand, for tests of what reads and analyses them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.recording import Category, Lane, Recording, Spans, Table

Span = tuple[str, Category, int, float, float]
"""Name, category, number of the lane, start and duration in ms."""

HOST, DEVICE = Lane(1, 1, "main"), Lane(0, 7, "stream 7", device=True)


def spans(found: Sequence[Span] = (), lanes: Sequence[Lane] = (HOST, DEVICE), correlation: Sequence[int] = ()) -> Spans:
    """Spans from tuples, times in ms."""
    names = list(dict.fromkeys(span[0] for span in found))
    ns = [(round(span[3] * 1e6), round(span[4] * 1e6)) for span in found]
    return Spans(
        np.array([start for start, _ in ns], np.int64),
        np.array([duration for _, duration in ns], np.int64),
        np.array([names.index(span[0]) for span in found], np.int32),
        np.array([span[1] for span in found], np.uint8),
        np.array([span[2] for span in found], np.int32),
        np.array(correlation if len(correlation) else [-1] * len(found), np.int64),
        names,
        list(lanes),
    )


def recording(found: Sequence[Span] = (), steps: Iterable[tuple[int, float, float]] = (), **fields: Any) -> Recording:
    """A recording from spans and steps (number, start and end in ms)."""
    lanes, correlation = fields.pop("lanes", (HOST, DEVICE)), fields.pop("correlation", ())
    tables = fields.pop("tables", {})
    if rows := list(steps):
        number, start, end = (np.array(column) for column in zip(*rows, strict=True))
        unknown = np.full(len(rows), -1)
        tables = {"steps": Table(step=number, start=_ns(start), end=_ns(end), fp_start=unknown, bp_end=unknown), **tables}
    return Recording("test", Path("test"), spans(found, lanes, correlation), tables, **fields)


def _ns(milliseconds: Any) -> Any:
    return np.rint(np.asarray(milliseconds, float) * 1e6).astype(np.int64)


def trace(path: Path, events: Iterable[dict[str, Any]], **about: Any) -> Path:
    """Write a Chrome trace as torch does: an object with ``traceEvents``."""
    path.write_text(json.dumps({"schemaVersion": 1, **about, "traceEvents": list(events)}), encoding="utf-8")
    return path


def complete(name: str, start: float, duration: float, category: str = "cpu_op", **fields: Any) -> dict[str, Any]:
    """A whole span as an event, times in µs."""
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, **fields}


def expect_tables(tables: Mapping[str, Table]) -> None:
    """Every table's columns have one length."""
    for name, table in tables.items():
        assert len({len(column) for column in table.values()}) <= 1, name


def expect_sound(recordings: Iterable[Recording]) -> None:
    """Whatever was read, it fits together: columns of one length, every number of a name or lane stands for one, all counts are counts."""
    for each in recordings:
        found = each.spans
        columns = (found.start, found.duration, found.name, found.category, found.lane, found.correlation)
        assert {len(column) for column in columns} == {len(found)}
        assert all(0 <= number < len(found.names) for number in found.name.tolist())
        assert all(0 <= number < len(found.lanes) for number in found.lane.tolist())
        assert all(count > 0 for count in each.skipped.values())
        expect_tables(each.tables)
