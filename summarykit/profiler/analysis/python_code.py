"""Which Python functions and lines take the time: from a trace with stacks, or from the sampler."""

from __future__ import annotations

import re

import numpy as np

from summarykit.profiler.analysis.grouping import Groups
from summarykit.profiler.analysis.nesting import Nesting, outermost
from summarykit.profiler.recording import Category, Recording, Table

_PLACE = re.compile(r"(?P<before>\$?)(?P<file>[^():]+?)[:(](?P<line>\d+)\)?:?\s*(?P<function>.*)$")


def python_code(recording: Recording) -> Table:
    """Python functions and lines, those first in which most time passed.

    Returns:
        ``function``, ``file``, ``line`` (0 where unknown), ``count``, and in ms ``total`` (with what they call) and ``self`` (without).
    """
    spans = recording.spans
    chosen = np.flatnonzero(spans.of(Category.PYTHON))
    if not len(chosen):
        return recording.tables.get("python", Table())
    nesting = Nesting(spans, chosen)
    groups = Groups(spans.name[chosen])
    outer = outermost(spans.name[chosen], nesting.above)
    total, own = groups.sum(np.where(outer, spans.duration[chosen], 0)), groups.sum(nesting.self_time)
    order = np.argsort(-own, kind="stable")
    places = [_place(spans.names[name]) for name in groups.keys[order].tolist()]
    return Table(
        function=np.array([place[0] for place in places], object),
        file=np.array([place[1] for place in places], object),
        line=np.array([place[2] for place in places], np.int64),
        count=groups.count[order],
        total=total[order] / 1e6,
        self=own[order] / 1e6,
    )


def _place(name: str) -> tuple[str, str, int]:
    """Function, file and line in ``"file.py(12): function"``, ``"file.py:12 function"`` or a function's name alone."""
    found = _PLACE.match(name)
    return (found["function"] or name, found["file"], int(found["line"])) if found else (name, "", 0)
