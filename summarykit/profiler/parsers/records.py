"""Our own records: ``rank_<k>.profile/``, whole, cut off by a kill, or damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path

from summarykit.formats.framing import HEADER
from summarykit.profiler.frames import FORMAT, SUFFIX
from summarykit.profiler.parsers.files import beginning
from summarykit.profiler.parsers.record_frames import Frames
from summarykit.profiler.parsers.record_tables import spans_of, tables_of
from summarykit.profiler.recording import Recording


def sniff(path: Path) -> bool:
    """Whether it is the directory of one rank's records, or one file of them."""
    if path.is_dir():
        return path.suffix == SUFFIX and any(path.glob("*.records"))
    head, _, _ = beginning(path, 1 << 12)[HEADER:].partition(b"\n")
    return head.startswith(b'{"frame": "meta"') and json.dumps(FORMAT).encode() in head


def parse(path: Path) -> list[Recording]:
    """Read the records of one rank in one window: one recording.

    ``meta`` has, besides what the writer says, ``complete``: whether the window was closed. What was not is all there up to the last
    frame that was written.

    Raises:
        OSError: a file cannot be opened.
    """
    frames = Frames()
    for file in sorted(path.glob("*.records")) if path.is_dir() else [path]:
        frames.read(file)
    meta = {**frames.meta, "complete": "ended" in frames.meta}
    wall, perf = frames.told("started", "wall", default=0), frames.told("started", "perf", default=0)
    lost = meta.get("lost")
    if isinstance(lost, dict):
        frames.skipped.update({f"not written: {reason}": count for reason, count in lost.items() if type(count) is int})
    if cut := frames.told("collected", "stacks", "cut", default=0):
        frames.skipped["samples of too many stacks: of these only the callers are known"] += cut
    return [
        Recording(
            "summarykit",
            Path(os.fspath(path)),
            spans_of(frames),
            tables_of(frames),
            rank=frames.told("rank", default=0),
            world_size=frames.told("world_size", default=1),
            clock_offset=wall - perf if wall else None,
            meta=meta,
            skipped=frames.skipped,
        )
    ]
