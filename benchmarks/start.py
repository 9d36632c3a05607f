"""The beginning: the import, over NumPy's; opening a writer and the first value."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from contestants import WRITERS
from harness import Options, Row, main, run
from meters import Stopwatch

IMPORT = """
import numpy, time
cpu, wall = time.thread_time(), time.perf_counter()
{statement}
print(time.thread_time() - cpu, time.perf_counter() - wall)
"""


def measure(contestant: Any, directory: str) -> dict[str, Any]:
    """Import in a process of its own; then open, record one value and wait for it, in this one."""
    done = subprocess.run([sys.executable, "-c", IMPORT.format(statement=contestant.IMPORT)], capture_output=True, text=True, check=True)
    cpu, wall = map(float, done.stdout.split())
    value = contestant.Writer.number(0.5)
    watch = Stopwatch()
    writer = contestant.Writer(directory)
    writer.log([("loss", value)], 1)
    called = watch.lap()
    writer.flush()
    there = watch.read()
    writer.close()
    called_and_there = {"called": called.thread, "called_wall": called.wall, "there": there.tree, "there_wall": there.wall}
    return {"import": cpu, "import_wall": wall, **called_and_there}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on starting."""
    results = run("start", {name: {} for name in WRITERS}, options)
    kinds = {
        "import over NumPy: CPU ms": "import",
        "… wall ms": "import_wall",
        "open and record the first value: training thread, CPU ms": "called",
        "… wall ms ": "called_wall",
        "open to first value in the file (`flush`): all processes, CPU ms": "there",
        "… wall ms  ": "there_wall",
    }
    return [Row(what.strip(), results.figures(key, 1e3), "start.py") for what, key in kinds.items()], []


if __name__ == "__main__":
    main(rows, __doc__)
