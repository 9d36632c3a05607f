"""Short work: loop and close after a burst of scalars, a few scalars, and a whole job from the interpreter's start to its exit."""

from __future__ import annotations

import resource
import tempfile
import time
from typing import Any

from contestants import CONTESTANTS, WRITERS
from harness import Options, Results, Row, launch, main, run
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


def job(name: str) -> dict[str, float]:
    """A process that imports the library, records a few scalars and ends."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as directory:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        launch(name, "job.py", CONTESTANTS[name].module, directory, str(FEW))
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall": wall, "tree": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on short work."""
    found = []
    for scalars in (options.count(BURST, 50), FEW):
        results = run("short", {name: {"scalars": scalars} for name in WRITERS}, options)
        found += [
            Row(f"{scalars:,} scalars, open to closed file: wall ms", results.figures("wall", 1e3), "short.py"),
            Row("… of it, `close`: wall ms", results.figures("close", 1e3), "short.py"),
            Row("… all processes, CPU ms", results.figures("tree", 1e3), "short.py"),
        ]
    jobs = Results()
    for _ in range(options.rounds):
        for name in results.runs:
            jobs.runs.setdefault(name, []).append(job(name))
    return [
        *found,
        Row(f"a whole job of {FEW} scalars, import and exit included: wall ms", jobs.figures("wall", 1e3), "short.py"),
        Row("… all processes, CPU ms", jobs.figures("tree", 1e3), "short.py"),
    ], []


if __name__ == "__main__":
    main(rows, __doc__)
