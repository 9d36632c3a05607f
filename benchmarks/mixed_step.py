"""A step that records a whole model: 62 histograms of 11.7 M values (a ResNet-18), 20 scalars and an image, beside 50 ms of work."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import meters
import numpy as np
from contestants import WRITERS
from harness import Options, Row, main, run
from meters import Stopwatch
from resnet18 import SIZES

SCALARS = 20
SIDE = 64
WORK_SECS = 0.05
STEPS = 30
BEGINNING = 10    # steps that the medians leave out: a long training has them once


def measure(contestant: Any, directory: str, steps: int, values: float) -> dict[str, Any]:
    """Steps without a writer, as many with a bare copy, then with one that records everything in each."""
    drawn = np.random.default_rng(0)
    parameters = [drawn.normal(size=max(1, round(size * values))).astype(np.float32) for size in SIZES]
    model = [(f"layer{place}/weight", contestant.Writer.array(each)) for place, each in enumerate(parameters)]
    scalars = [(f"loss{place}", contestant.Writer.number(place / 7)) for place in range(SCALARS)]
    picture = contestant.Writer.picture(drawn.integers(0, 255, (SIDE, SIDE, 3), np.uint8))
    work = calibrated()
    alone = loop(work, lambda step: None, steps)
    copying = loop(work, copier(parameters), steps)
    meters.forget_peak()
    memory, watch = meters.resident(), Stopwatch()
    writer = contestant.Writer(directory)
    steps_taken = loop(work, lambda step: writer.model_step(model, scalars, picture, step), steps)
    added = meters.peak() - memory
    writer.close()
    whole = watch.read()
    late = slice(min(BEGINNING, steps - 1), None)
    base = median(step for step, _ in alone)
    thread, bare = (median(thread for _, thread in taken[late]) for taken in (steps_taken, copying))
    slower, bare_slower = (max(0.0, median(step for step, _ in taken[late]) / base - 1) for taken in (steps_taken, copying))
    busy = sum(step - thread for step, thread in alone)    # of the work itself, which costs the same beside the recording
    tree = max(0.0, whole.tree - busy) / steps
    return {"thread": thread, "bare": bare, "slower": slower, "bare_slower": bare_slower, "tree": tree, "added": added}


def calibrated() -> Callable[[], None]:
    """Work for one thread that needs no Python lock, and takes about 50 ms where nothing disturbs it."""
    numbers = np.linspace(0, 1, 50_000)
    room = np.empty_like(numbers)

    def work(repeats: int) -> None:
        for _ in range(repeats):
            np.sin(numbers, out=room)

    begun = time.perf_counter()
    work(100)
    repeats = max(1, round(100 * WORK_SECS / (time.perf_counter() - begun)))
    return lambda: work(repeats)


def copier(arrays: list[Any]) -> Callable[[int], None]:
    """What no library that copies in the call can do without: the same bytes, into memory that is there already."""
    rooms = [np.zeros_like(each) for each in arrays]

    def copy(_: int) -> None:
        for room, array in zip(rooms, arrays, strict=True):
            np.copyto(room, array)

    return copy


def loop(work: Callable[[], None], record: Callable[[int], None], steps: int) -> list[tuple[float, float]]:
    """Of each step the seconds it took, and the CPU seconds of this thread in recording."""
    taken = []
    for step in range(steps):
        begun = time.perf_counter()
        work()
        before = time.thread_time()
        record(step)
        thread = time.thread_time() - before
        taken.append((time.perf_counter() - begun, thread))
    return taken


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on a model in every step."""
    values, steps = min(1.0, options.scale * 10), max(2, round(STEPS * min(1.0, options.scale * 5)))
    results = run("mixed_step", {name: {"steps": steps, "values": values} for name in WRITERS}, options)
    what = f"{len(SIZES)} histograms ({sum(SIZES) * values / 1e6:.3g} M values), {SCALARS} scalars, 1 image a step"
    return [
        Row(f"{what}: training thread, CPU ms a step", results.figures("thread", 1e3), "mixed_step.py"),
        Row(f"the same: how much slower a step of {WORK_SECS * 1e3:g} ms becomes, %", results.figures("slower", 100), "mixed_step.py"),
        Row("the same: all processes, CPU ms a step", results.figures("tree", 1e3), "mixed_step.py"),
        Row("the same: memory added, MB", results.figures("added", 1e-6), "mixed_step.py"),
        Row("a bare copy of these values, in the same run: training thread, CPU ms", results.figures("bare", 1e3), "mixed_step.py"),
        Row("a bare copy alone: how much slower a step becomes, %", results.figures("bare_slower", 100), "mixed_step.py"),
    ], [f"mixed_step.py: medians leave out the first {BEGINNING} steps; the step's own work needs one core and no Python lock"]


if __name__ == "__main__":
    main(rows, __doc__)
