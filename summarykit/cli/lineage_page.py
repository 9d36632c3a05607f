"""The page of runs: parallel coordinates, a scatter plot and the table, in one file that loads nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from summarykit import __version__
from summarykit.cli import page, spell
from summarykit.cli.lineage_rows import Rows, as_text
from summarykit.reading.lineage_importance import Importance

_MOST_AXES = 12


def document(title: str, rows: Rows, columns: Sequence[str] | None, found: Importance | None) -> str:
    """The page as text, in ASCII.

    Args:
        title: what stands above it.
        rows: the runs.
        columns: what the axes and the table are; by default settings in which runs differ, and results.
        found: the importance of settings, where that was asked for.
    """
    chosen = [name for name in (rows.telling if columns is None else columns) if name != "run"]
    results = [name for name in rows.table.metrics if name in chosen]
    content = {
        "title": title,
        "note": f"{spell.some(len(rows), 'run')}, {time.strftime('%Y-%m-%d %H:%M')}, summarykit {__version__}",
        "names": [row["run"] for row in rows],
        "columns": [_column(name, rows) for name in chosen],
        "axes": _axes(chosen, rows) if columns is None or len(chosen) > _MOST_AXES else chosen,
        "colour": found.metric if found else max(results, key=lambda name: len(_values(name, rows)), default=None),
        "importance": None if found is None else {**vars(found), "scores": list(found.scores.items())},
    }
    return page.page(title, content, "lineage.html")


def _axes(chosen: Sequence[str], rows: Rows) -> Sequence[str]:
    """Settings and results with different values, of each at least half of the places; if there are none what comes first."""
    telling = [name for name in chosen if len(set(map(repr, _values(name, rows)))) > 1]
    results = [name for name in rows.table.metrics if name in telling]
    settings = [name for name in rows.settings if name in telling]
    half = _MOST_AXES // 2
    found = settings[: max(half, _MOST_AXES - len(results))] + results[: max(half, _MOST_AXES - len(settings))]
    return found or chosen[:_MOST_AXES]


def _values(name: str, rows: Rows) -> Sequence[Any]:
    return [value for row in rows if (value := rows.value(row, name)) is not None]


def _column(name: str, rows: Rows) -> dict[str, Any]:
    """Numbers as they are; of a column with anything else the texts."""
    values = [rows.value(row, name) for row in rows]
    if name == "started":
        values = [None if value is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(value)) for value in values]
    elif rows.is_numeric(name):
        return {"name": name, "numbers": True, "values": values}
    return {"name": name, "numbers": False, "values": [None if value is None else as_text(value) for value in values]}
