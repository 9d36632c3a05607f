"""``torch.profiler``'s ``export_memory_timeline("*.raw.json.gz")``: every change of what is allocated, by what it holds.

Source: ``torch/profiler/_memory_profiler.py``: an array of ``[ns, action, bytes, category]``; of what was there before, ns is -1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.columns import SpanColumns
from summarykit.profiler.parsers.files import beginning, chunks
from summarykit.profiler.recording import Recording, Table
from summarykit.shapes import Ints

CATEGORIES = ("parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail", "other")
_ROW = re.compile(rb"\[\s*(-?[0-8]?\d{1,18})\s*,\s*([1-4])\s*,\s*(-?\d{1,18})\s*,\s*([0-7])\s*\]")
_START = re.compile(rb"\s*\[\s*" + _ROW.pattern)


def sniff(path: Path) -> bool:
    """Whether it begins with such a row."""
    return _START.match(beginning(path, 256)) is not None


def parse(path: Path) -> list[Recording]:
    """Read a file: one recording without spans; its table ``memory`` has a column ``category`` more than Kineto's.

    Raises:
        OSError: the file cannot be opened.
    """
    skipped: Counter[str] = Counter()
    rows = np.concatenate([np.empty((0, 4), np.int64), *_rows(path, skipped)])
    time, _, size, category = rows.T
    known = time[time >= 0]
    time = np.where(time >= 0, time, known.min(initial=np.iinfo(np.int64).max) if len(known) else 0)
    order = np.argsort(time, kind="stable")
    memory = Table(
        time=time[order],
        device=np.zeros(len(rows), np.int64),
        bytes=size[order].astype(np.float64),
        allocated=np.cumsum(size[order]).astype(np.float64),
        category=np.array(CATEGORIES, object)[category[order]],
    )
    tables = {"memory": memory} if len(rows) else {}
    return [Recording("kineto", path, SpanColumns().spans([], []), tables, clock_offset=0, skipped=skipped)]


def _rows(path: Path, skipped: Counter[str]) -> Iterator[Ints]:
    rest = b""
    for piece in chunks(path, skipped):
        text = rest + piece
        end = text.rfind(b"]") + 1
        yield np.array(_ROW.findall(text, 0, end), "S20").astype(np.int64).reshape(-1, 4)
        rest = text[end:][-256:]
