"""Histograms: values a second of the kernel alone, and a short job of ten histograms of a million values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from contestants import WRITERS
from harness import Options, Row, main, run
from meters import Stopwatch

VALUES = 1_000_000
HISTOGRAMS = 10


def measure(contestant: Any, directory: str, values: int) -> dict[str, Any]:
    """Count alone where the library lets one; then open, record ten arrays, close."""
    drawn = np.random.default_rng(0)
    arrays = [drawn.normal(size=values).astype(np.float32) for _ in range(HISTOGRAMS)]
    given = [contestant.Writer.array(array) for array in arrays]
    watch = Stopwatch()
    writer = contestant.Writer(directory)
    called = Stopwatch()
    for step, array in enumerate(given):
        writer.histogram(f"layer{step}/weight", array, step)
    thread = called.lap().thread
    writer.close()
    whole = watch.read()
    job = {"thread": thread / HISTOGRAMS, "wall": whole.wall, "tree": whole.tree}
    return {**job, "rate": rate(writer.histogram_kernel) if hasattr(writer, "histogram_kernel") else None}


def rate(kernel: Callable[[Any], Any]) -> float:
    """Values a CPU second; a million at a time, whatever the size of the job."""
    arrays = [np.random.default_rng(seed).normal(size=VALUES).astype(np.float32) for seed in range(HISTOGRAMS)]
    kernel(arrays[0])
    watch = Stopwatch()
    for array in arrays:
        kernel(array)
    return sum(array.size for array in arrays) / watch.read().tree


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on histograms."""
    values = options.count(VALUES)
    results = run("histograms", {name: {"values": values} for name in WRITERS}, options)
    job = f"{HISTOGRAMS} histograms of {values:,} float32 values"
    return [
        Row("histogram kernel, float32: G values a CPU second", results.figures("rate", 1e-9), "histograms.py", more_is_better=True),
        Row(f"{job}: training thread, CPU ms each", results.figures("thread", 1e3), "histograms.py"),
        Row("… open to closed file: wall ms", results.figures("wall", 1e3), "histograms.py"),
        Row("… all processes, CPU ms", results.figures("tree", 1e3), "histograms.py"),
    ], []


if __name__ == "__main__":
    main(rows, __doc__)
