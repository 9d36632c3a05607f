"""Whole tensors, from the first call to the closed file: forty of 1 MB, four of 64 MB."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import meters
import numpy as np
from contestants import ONE_FORMAT, OURS
from harness import Options, Row, main, run
from meters import Stopwatch

WRITERS = (OURS, ONE_FORMAT, "torch", "MindSpore")    # tensorboardX records no tensors
SETS = ((40, 250_000), (4, 16_000_000))
COMMAND = "tensors.py"
MOST_ROUNDS = 2    # torch takes half a minute for the large ones


def measure(contestant: Any, directory: str, tensors: int, values: int) -> dict[str, Any]:
    """Open, record, close."""
    given = [contestant.Writer.array(np.full(values, number, np.float32)) for number in range(tensors)]
    meters.forget_peak()
    memory, watch = meters.resident(), Stopwatch()
    writer = contestant.Writer(directory)
    opened = watch.lap().thread
    for step, tensor in enumerate(given):
        writer.tensor("weights", tensor, step)
    thread = watch.lap().thread - opened
    added = meters.peak() - memory
    writer.close()
    whole = watch.read()
    return {"thread": thread / tensors, "wall": whole.wall, "tree": whole.tree, "added": max(added, meters.peak() - memory)}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on tensors."""
    found = []
    for tensors, full in SETS:
        values = options.count(full)
        parameters = {name: {"tensors": tensors, "values": values} for name in WRITERS}
        results = run("tensors", parameters, replace(options, rounds=min(options.rounds, MOST_ROUNDS)))
        found += [
            Row(f"{tensors} tensors of {values * 4e-6:g} MB, first call to closed file: wall ms", results.figures("wall", 1e3), COMMAND),
            Row("the same, training thread, CPU ms each", results.figures("thread", 1e3), COMMAND),
            Row("the same, all processes, CPU ms", results.figures("tree", 1e3), COMMAND),
            Row("the same, memory added, MB", results.figures("added", 1e-6), COMMAND),
        ]
    return found, [f"tensors.py runs at most {MOST_ROUNDS} rounds"]


if __name__ == "__main__":
    main(rows, __doc__)
