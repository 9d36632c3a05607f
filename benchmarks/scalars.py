"""Scalars over 50 tags: one call each, and a dictionary a step; what it costs the training thread and the machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from harness import Options, Row, main, run
from meters import Stopwatch

TAGS = [f"layer{number:02d}/loss" for number in range(50)]
CALLS = {"summarykit": 1_000_000, "summarykit, one format": 1_000_000, "torch": 100_000, "tensorboardX": 100_000, "MindSpore": 50_000}
SHAPES: dict[str, Callable[[Any], Iterable[Any]]] = {"one call each": list, "a dictionary a step": lambda pairs: dict(pairs).items()}


def nothing(items: Iterable[Any], step: int) -> None:
    """The loop without the call."""
    for _tag, _value in items:
        pass


def measure(contestant: Any, directory: str, calls: int, shape: str) -> dict[str, Any]:
    """Record ``calls`` scalars as fast as it goes, and close."""
    drawn = random.Random(0)
    pairs = [SHAPES[shape]((tag, contestant.Writer.number(drawn.random())) for tag in TAGS) for _ in range(20)]
    null = loop(nothing, pairs, calls)
    watch = Stopwatch()
    writer = contestant.Writer(directory)
    thread = loop(writer.log, pairs, calls)
    writer.close()
    whole = watch.read()
    figures = {"thread": thread, "net": thread - null, "tree": whole.tree, "wall": whole.wall}
    return {**{key: value / calls for key, value in figures.items()}, "settings": writer.settings()}


def loop(log: Callable[[Any, int], None], pairs: list[Any], calls: int) -> float:
    """CPU seconds of this thread for so many scalars."""
    watch = Stopwatch()
    for step in range(calls // len(TAGS)):
        log(pairs[step % len(pairs)], step)
    return watch.lap().thread


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on scalars."""
    sizes = {name: options.count(calls, len(TAGS)) for name, calls in CALLS.items()}
    found: list[Row] = []
    for shape in SHAPES:
        results = run("scalars", {name: {"calls": calls, "shape": shape} for name, calls in sizes.items()}, options)
        found += [
            Row(f"a scalar, {shape}: training thread, CPU µs, loop subtracted", results.figures("net", 1e6), "scalars.py"),
            Row("… loop included, CPU µs", results.figures("thread", 1e6), "scalars.py"),
            Row(f"1 M scalars, {shape}, open to closed file: all processes, CPU s", results.figures("tree", 1e6), "scalars.py"),
            Row("… wall s", results.figures("wall", 1e6), "scalars.py"),
        ]
    recorded = ", ".join(f"{name} {calls:,}" for name, calls in sizes.items())
    return found, [f"scalars.py records so many scalars and scales to the row's unit: {recorded}", *results.notes()]


if __name__ == "__main__":
    main(rows, __doc__)
