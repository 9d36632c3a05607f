"""The page of runs: parallel coordinates, a scatter plot and the table, in one file that loads nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from summarykit import __version__
from summarykit.cli import page
from summarykit.cli.lineage_rows import Rows
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
    chosen = list(rows.telling if columns is None else columns)
    results = [name for name in rows.table.metrics if name in chosen]
    axes = [name for name in chosen if name not in ("run", "status", "duration")] if columns is None else [n for n in chosen if n != "run"]
    content = {
        "title": title,
        "note": f"{len(rows)} runs, {time.strftime('%Y-%m-%d %H:%M')}, summarykit {__version__}",
        "names": [row["run"] for row in rows],
        "columns": [_column(name, rows) for name in chosen if name != "run"],
        "axes": axes[-_MOST_AXES:] or [name for name in chosen if name != "run"],
        "colour": found.metric if found else results[-1] if results else None,
        "importance": None if found is None else {**vars(found), "scores": list(found.scores.items())},
    }
    return page.page(title, content, "lineage.html")


def _column(name: str, rows: Rows) -> dict[str, Any]:
    """Numbers as they are; of a column with anything else the texts."""
    values = [rows.value(row, name) for row in rows]
    if rows.is_numeric(name):
        return {"name": name, "numbers": True, "values": values}
    return {"name": name, "numbers": False, "values": [None if value is None else _text(value) for value in values]}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
