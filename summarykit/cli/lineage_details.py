"""Everything that a run tells, one below the other, and how a cell is spelled."""

from __future__ import annotations

import shlex
from typing import Any

from summarykit.cli import spell, table
from summarykit.cli.lineage_rows import Rows, as_text
from summarykit.reading.lineage import RunLineage

_OF_CODE = ("branch", "directory", "python", "platform")


def show(rows: Rows, told: RunLineage) -> None:
    """Print the only row of a table, what has no column, and the traceback."""
    pairs = [(name, text(name, rows.value(row, name))) for row in rows for name in rows.columns]
    table.show(("<", "~"), [(name, value) for name, value in [*pairs, *_further(told)] if value])
    if told.traceback:
        print(f"\n{told.traceback.rstrip()}")


def _further(told: RunLineage) -> list[tuple[str, str]]:
    """What has no column, since it hardly tells runs apart."""
    code, diff = told.code, str(told.code.get("diff") or "")
    packages = (f"{name} {version}" for name, version in (code.get("packages") or {}).items())
    return [
        ("model", str(told.model.get("path") or "")),
        ("train_dataset", str(told.train_dataset.get("path") or "")),
        ("diff", spell.some(len(diff.splitlines()), "line") if diff else ""),
        ("not compared", ", ".join(map(str, code.get("not_compared") or ()))),
        ("command", shlex.join(map(str, code.get("command") or ()))),
        *((name, str(code.get(name) or "")) for name in _OF_CODE),
        ("packages", ", ".join(packages)),
    ]


def text(column: str, value: Any) -> str:
    """A cell, for people."""
    if value is None:
        return ""
    if column == "started":
        return spell.ago(value)
    if column == "duration":
        return spell.duration(value)
    if isinstance(value, float):
        return spell.number(value)
    return as_text(value)
