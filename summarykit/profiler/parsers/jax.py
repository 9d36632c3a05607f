"""``plugins/profile/<run>/<host>.trace.json.gz``: what JAX's profiler writes for Perfetto (at most a million spans of what it saw)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.parsers import jax_words
from summarykit.profiler.parsers.files import beginning
from summarykit.profiler.parsers.json_events import Event
from summarykit.profiler.parsers.trace import Trace, steps_of
from summarykit.profiler.parsers.trace_lanes import TraceLanes
from summarykit.profiler.parsers.trace_wanted import Wanted
from summarykit.profiler.recording import Category, Recording

_WANTED = Wanted(detailed=Category.STEP, details=("step_num",))


def sniff(path: Path) -> bool:
    """Whether the first 64 kB name a process as XLA does: ``/host:CPU``, ``/device:GPU:0``."""
    text = beginning(path, 1 << 16)
    return b'"traceEvents"' in text and (b'"/host:' in text or b'"/device:' in text)


def parse(path: Path) -> list[Recording]:
    """Read a trace: one recording.

    Raises:
        OSError: the file cannot be opened.
    """
    trace = Trace(path, jax_words.classify, _WANTED, _word)
    spans = trace.spans()
    number = np.array([step_number(details["step_num"]) for details in trace.details.values()], np.int64)
    steps = steps_of(spans, np.array(list(trace.details), np.int64), number)
    tables = {"steps": steps, "counters": trace.counters()}
    kept = {name: table for name, table in tables.items() if table.rows}
    return [Recording("jax", path, spans, kept, meta=trace.meta, skipped=trace.skipped)]


def step_number(word: Any) -> int:
    """The number of a step, however it is written; -1 where it is none."""
    text = str(word)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1


def _word(event: Event, lanes: TraceLanes) -> str:
    arguments = event.get("args") or {}
    if "step_num" in arguments:
        return jax_words.STEP
    return jax_words.row(*lanes.titles(event)) or (jax_words.OPERATOR if "hlo_op" in arguments else jax_words.PLAIN)
