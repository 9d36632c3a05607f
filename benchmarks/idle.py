"""A writer that is open and has nothing to do: CPU of all its threads and processes."""

from __future__ import annotations

import time
from typing import Any

from contestants import WRITERS
from harness import Options, Row, main, run
from meters import Stopwatch

SECONDS = 10


def measure(contestant: Any, directory: str, seconds: float) -> dict[str, Any]:
    """Record one value, wait for it, then do nothing."""
    writer = contestant.Writer(directory)
    writer.log([("loss", contestant.Writer.number(0.5))], 1)
    writer.flush()
    time.sleep(0.5)
    watch = Stopwatch()
    time.sleep(seconds)
    idle = watch.read()
    writer.close()
    return {"share": idle.tree / idle.wall}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claim on idling."""
    seconds = max(0.5, SECONDS * options.scale)
    results = run("idle", {name: {"seconds": seconds} for name in WRITERS}, options)
    row = Row("an idle writer: all processes, % of a core", results.figures("share", 100), "idle.py")
    return [row], [f"idle.py watches for {seconds:g} s; processes below the first are counted in steps of 10 ms"]


if __name__ == "__main__":
    main(rows, __doc__)
