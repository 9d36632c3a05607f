"""Chrome traces of anybody: viztracer, MindSpore's ``trace_view.json``, our own ``trace.json.gz``."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.files import beginning
from summarykit.profiler.parsers.trace import Trace, steps_of
from summarykit.profiler.parsers.trace_kinds import Kind
from summarykit.profiler.recording import Category, Recording, Spans, Table

_START = re.compile(rb'\s*(?:\{[^\x00]{0,65536}?"traceEvents"\s*:\s*\[|\[\s*\{)')
_DEVICE = (Category.KERNEL, Category.MEMCPY, Category.MEMSET)
_WORDS = {category.name.lower(): Kind(category, category in _DEVICE) for category in Category} | {
    "fee": Kind(Category.PYTHON),    # a function, in viztracer's words
    "hostcpuops": Kind(Category.HOST_OP),
    "gpuops": Kind(Category.KERNEL, device=True),
}
_STEP = re.compile(r"(?:profiler)?(?:step|iteration)[ #_]*(\d+)$", re.IGNORECASE)


def sniff(path: Path) -> bool:
    """Whether it begins as such a trace does: an array of objects, or an object with ``traceEvents``; with a ``ph`` somewhere."""
    text = beginning(path, 1 << 16)
    return _START.match(text.removeprefix(b"\xef\xbb\xbf")) is not None and (b'"ph"' in text or b'"traceEvents"' in text)


def parse(path: Path) -> list[Recording]:
    """Read a trace: one recording.

    Raises:
        OSError: the file cannot be opened.
    """
    trace = Trace(path, classify)
    spans = trace.spans()
    tables = {"steps": _steps(spans), "counters": trace.counters()}
    kept = {name: table for name, table in tables.items() if table.rows}
    return [Recording("chrome", path, spans, kept, meta=trace.meta, skipped=trace.skipped)]


def classify(word: str, name: str) -> Kind:
    """What a span is: by its category where that is a word of ours or of a writer that is known."""
    if _STEP.match(name):
        return Kind(Category.STEP)
    return _WORDS.get(word.lower(), Kind(Category.OTHER))


def _steps(spans: Spans) -> Table:
    number = np.array([int(found.group(1)) if (found := _STEP.match(name)) else -1 for name in spans.names] or [-1])
    chosen = np.flatnonzero(spans.of(Category.STEP))
    return steps_of(spans, chosen, number[spans.name[chosen]])
