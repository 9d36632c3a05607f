"""How it comes back: scan -> columns -> run -> frames.

``Run`` reads one directory, ``runs`` all below a directory; ``verify``, ``repair`` and ``convert`` work on files. Nothing is
imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from summarykit.reading.collection import Runs, runs
    from summarykit.reading.conversion import convert
    from summarykit.reading.damage import Damage
    from summarykit.reading.lineage import RunLineage
    from summarykit.reading.lineage_table import LineageTable
    from summarykit.reading.repairing import repair
    from summarykit.reading.report import FileReport, Report
    from summarykit.reading.run import Run
    from summarykit.reading.verification import verify

_WHERE = {
    "Run": "run", "Runs": "collection", "runs": "collection", "verify": "verification", "repair": "repairing", "convert": "conversion",
    "Damage": "damage", "FileReport": "report", "Report": "report", "RunLineage": "lineage",
    "LineageTable": "lineage_table",
}  # fmt: skip

__all__ = ["Damage", "FileReport", "LineageTable", "Report", "Run", "RunLineage", "Runs", "convert", "repair", "runs", "verify"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
