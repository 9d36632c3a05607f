"""The same calls on every SummaryWriter: ``add_scalar``, and ``add_scalars`` with 20 keys."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contestants import ONE_FORMAT, OURS
from harness import Options, Row, main, run
from meters import Stopwatch

TAGS = [f"layer{number:02d}/loss" for number in range(50)]
KEYS = [f"key{number:02d}" for number in range(20)]
CALLS = {OURS: 1_000_000, ONE_FORMAT: 1_000_000, "torch": 100_000, "tensorboardX": 100_000}
GROUPS = {OURS: 50_000, ONE_FORMAT: 50_000, "torch": 1_000, "tensorboardX": 1_000}


def nothing(tag: str, value: float, step: int) -> None:
    """The loop without the call."""


def measure(contestant: Any, directory: str, calls: int, groups: int) -> dict[str, Any]:
    """Record ``calls`` scalars one by one, and ``groups`` times 20 in one call, each with a writer of its own."""
    group = grouped(contestant, f"{directory}/group", groups)
    drawn = random.Random(0)
    numbers = [drawn.random() for _ in TAGS]
    null = loop(nothing, numbers, calls)
    watch = Stopwatch()
    writer = contestant.summary_writer(f"{directory}/one")
    thread = loop(writer.add_scalar, numbers, calls)
    writer.close()
    tree = watch.read().tree
    return {"net": (thread - null) / calls, "tree": tree / calls, **group}


def loop(add: Callable[[str, float, int], object], numbers: list[float], calls: int) -> float:
    """CPU seconds of this thread for so many scalars."""
    watch = Stopwatch()
    for step in range(calls // len(TAGS)):
        for tag, number in zip(TAGS, numbers, strict=True):
            add(tag, number, step)
    return watch.lap().thread


def grouped(contestant: Any, directory: str, groups: int) -> dict[str, Any]:
    """The same for 20 curves of one chart, and what they take beside time."""
    values = dict.fromkeys(KEYS, 0.5)
    threads = threading.active_count()
    writer = contestant.summary_writer(directory)
    watch = Stopwatch()
    for step in range(groups):
        writer.add_scalars("group", values, step)
    thread = watch.lap().thread
    further = threading.active_count() - threads
    writer.close()
    files = sum("events" in name for _, _, names in os.walk(Path(directory)) for name in names)
    return {"group": thread / groups, "files": files, "threads": further}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on SummaryWriter."""
    sizes = {name: (options.count(CALLS[name], len(TAGS)), options.count(GROUPS[name])) for name in CALLS}
    results = run("writer", {name: {"calls": calls, "groups": groups} for name, (calls, groups) in sizes.items()}, options)
    recorded = ", ".join(f"{name} {calls:,} and {groups:,}" for name, (calls, groups) in sizes.items())
    return [
        Row("add_scalar of SummaryWriter: training thread, CPU µs, loop subtracted", results.figures("net", 1e6), "writer.py"),
        Row("… 1 M of them, open to closed file: all processes, CPU s", results.figures("tree", 1e6), "writer.py"),
        Row("add_scalars with 20 keys: training thread, CPU µs a call", results.figures("group", 1e6), "writer.py"),
        Row("… files", results.figures("files"), "writer.py"),
        Row("… threads while it is open, the library's own included", results.figures("threads"), "writer.py"),
    ], [f"writer.py calls add_scalar and add_scalars so often: {recorded}; SummaryWriter writes one format unless it is told otherwise"]


if __name__ == "__main__":
    main(rows, __doc__)
