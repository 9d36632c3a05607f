"""Histograms: values a second of the kernel alone, a short job of ten of a million values, and others of a thousand to ten million."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from contestants import WRITERS
from harness import Options, Row, main, run
from meters import Stopwatch

VALUES = 1_000_000
HISTOGRAMS = 10
OTHERS = ((1_000, 1_000), (100_000, 100), (10_000_000, 3))    # values, and how many such histograms


def measure(contestant: Any, directory: str, values: int, histograms: int) -> dict[str, Any]:
    """Open, record some arrays (ten different ones in turn), close; then count alone where the library lets one."""
    drawn = np.random.default_rng(0)
    arrays = [drawn.normal(size=values).astype(np.float32) for _ in range(min(histograms, HISTOGRAMS))]
    given = [contestant.Writer.array(array) for array in arrays]
    watch = Stopwatch()
    writer = contestant.Writer(directory)
    opened = watch.lap().thread
    for step in range(histograms):
        writer.histogram(f"layer{step % HISTOGRAMS}/weight", given[step % HISTOGRAMS], step)
    thread = watch.lap().thread - opened
    writer.close()
    whole = watch.read()
    job = {"thread": thread / histograms, "wall": whole.wall, "tree": whole.tree}
    return job | alone(writer.histogram_kernel) if hasattr(writer, "histogram_kernel") else job


def alone(kernel: Callable[[Any], Any]) -> dict[str, float]:
    """Values a CPU second; and, for what NumPy can do here, of its own counting, when the bucket of each value is known."""
    drawn = [np.random.default_rng(seed) for seed in range(HISTOGRAMS)]
    kernels = rate(kernel, [each.normal(size=VALUES).astype(np.float32) for each in drawn])
    return {"rate": kernels, "counting": rate(np.bincount, [each.integers(0, 90, VALUES) for each in drawn])}


def rate(kernel: Callable[[Any], Any], arrays: list[Any]) -> float:
    """Values a CPU second; a million at a time, whatever the size of the job."""
    kernel(arrays[0])
    watch = Stopwatch()
    for array in arrays:
        kernel(array)
    return sum(array.size for array in arrays) / watch.read().tree


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on histograms."""
    values = options.count(VALUES)
    results = run("histograms", {name: {"values": values, "histograms": HISTOGRAMS} for name in WRITERS}, options)
    job = f"{HISTOGRAMS} histograms of {values:,} float32 values"
    found = [
        Row("histogram kernel, float32: G values a CPU second", results.figures("rate", 1e-9), "histograms.py", more_is_better=True),
        Row("… np.bincount alone, where each bucket is known", results.figures("counting", 1e-9), "histograms.py", more_is_better=True),
        Row(f"{job}: training thread, CPU ms each", results.figures("thread", 1e3), "histograms.py"),
        Row("the same, open to closed file: wall ms", results.figures("wall", 1e3), "histograms.py"),
        Row("the same, all processes, CPU ms", results.figures("tree", 1e3), "histograms.py"),
    ]
    for size, full in OTHERS:
        histograms = options.count(full)
        results = run("histograms", {name: {"values": size, "histograms": histograms} for name in WRITERS}, options)
        job = f"{histograms:,} histograms of {size:,} values"
        found += [
            Row(f"{job}: training thread, CPU ms each", results.figures("thread", 1e3), "histograms.py"),
            Row("the same, open to closed file: wall ms", results.figures("wall", 1e3), "histograms.py"),
        ]
    return found, []


if __name__ == "__main__":
    main(rows, __doc__)
