"""Figures of several writers as those of one."""

from __future__ import annotations

from collections import Counter
from typing import Any


def together(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """What ``Writer.summary()`` told of two writers, or of none and one."""
    if not earlier:
        return later
    both = {name: earlier[name] + later[name] for name in ("recorded", "written", "waiting", "bytes", "files")}
    dropped = dict(Counter(earlier["dropped"]) + Counter(later["dropped"]))
    nonfinite = {**later["nonfinite"], **earlier["nonfinite"]}
    return {**both, "dropped": dropped, "lag": max(earlier["lag"], later["lag"]), "nonfinite": nonfinite}
