"""A loop without any framework: the profiler finds the line that waits and the stage that is slow, and says what that costs.

    python examples/profile_numpy.py [DIRECTORY]

A network of two layers by NumPy on images that are decoded in Python as they are needed, with a progress report in every step. Then the
images are decoded once and kept, the progress is told rarely, and both recordings are compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from summarykit import Loop, Profiler, SummaryWriter
from summarykit.profiler.analysis import Report, compare
from summarykit.profiler.pipeline import stage

STEPS, BATCH, PIXELS, HIDDEN = 40, 64, 4096, 16
Batch = tuple[np.ndarray, np.ndarray]


def decode(place: int) -> Batch:
    """Images ``[64, 4096]`` and labels ``[64]``, from text that is read number by number."""
    random = np.random.default_rng(place)
    text = " ".join(map(str, random.integers(0, 256, 1 << 15).tolist()))
    numbers = np.array([int(word) for word in text.split()])
    return np.resize(numbers / 255, (BATCH, PIXELS)), random.integers(0, 2, BATCH)


def decoded(places: range) -> Iterator[Batch]:
    """Each batch is decoded when the training asks for it."""
    for place in places:
        yield decode(place)


def tell(step: int, loss: float) -> None:
    """Write a line and wait until it is on a slow screen."""
    print(f"\rstep {step}: {loss:.3f}", end="", file=sys.stderr, flush=True)
    time.sleep(0.004)


def train(directory: Path, batches: Iterator[Batch], every: int) -> Report:
    """Gradient descent with a profiler; phases of such a loop are marked where they are of interest."""
    random = np.random.default_rng(0)
    first, second = random.normal(0, 0.01, (PIXELS, HIDDEN)), random.normal(0, 0.1, HIDDEN)
    with Profiler(directory / "profiler") as profiler, Loop(train_dataset=stage("decode", batches)) as loop:
        for images, labels in loop.steps():
            with profiler.phase("forward"):
                hidden = np.tanh(images @ first)
                likely = 1 / (1 + np.exp(-hidden @ second))
            with profiler.phase("backward"):
                error = (likely - labels) / BATCH
                gradient = images.T @ (np.outer(error, second) * (1 - hidden**2))
            with profiler.phase("optimizer"):
                second -= 0.1 * hidden.T @ error
                first -= 0.1 * gradient
            if loop.step % every == 0:
                with profiler.phase("logging"):
                    tell(loop.step, float(np.abs(likely - labels).mean()))
    print(file=sys.stderr)
    return profiler.analyse()


def record(report: Report, directory: Path) -> None:
    """The lengths of the steps, for the viewers."""
    steps = report.table("steps")
    with SummaryWriter(directory) as writer:
        for step, duration in zip(steps["step"].tolist(), steps["duration"].tolist(), strict=True):
            writer.add_scalar("step_time_ms", duration, step)


def main(directory: Path) -> None:
    """Record, read the advice, follow it, compare."""
    before = train(directory / "before", decoded(range(STEPS)), every=1)
    print(before)
    kept = [decode(place) for place in range(STEPS)]
    after = train(directory / "after", iter(kept), every=20)
    print(compare(before, after))
    for name, report in (("before", before), ("after", after)):
        record(report, directory / name)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "./profile"))
