"""Short work: loop and close after a burst of scalars, a few scalars, and whole jobs from the interpreter's start to its exit."""

from __future__ import annotations

from typing import Any

from contestants import WRITERS
from harness import Options, Row, main, run
from meters import Stopwatch

BURST = 100_000
FEW = 10


def measure(contestant: Any, directory: str, scalars: int) -> dict[str, Any]:
    """Open, record over up to 50 tags, close."""
    per_step = min(50, scalars)
    pairs = [(f"layer{number:02d}/loss", contestant.Writer.number(number / 7)) for number in range(per_step)]
    watch = Stopwatch()
    writer = contestant.Writer(directory)
    for step in range(scalars // per_step):
        writer.log(pairs, step)
    ready = watch.lap()
    writer.close()
    whole = watch.read()
    return {"wall": whole.wall, "close": whole.wall - ready.wall, "tree": whole.tree}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on short work."""
    burst = options.count(BURST, 50)
    found = []
    for scalars in (burst, FEW):
        results = run("short", {name: {"scalars": scalars} for name in WRITERS}, options)
        found += [
            Row(f"{scalars:,} scalars, open to closed file: wall ms", results.figures("wall", 1e3), "short.py"),
            Row("of it, `close`: wall ms", results.figures("close", 1e3), "short.py"),
            Row("all processes, CPU ms", results.figures("tree", 1e3), "short.py"),
        ]
    return found, []


if __name__ == "__main__":
    main(rows, __doc__)
