"""Ascend's raw captures: how fast the hardware's task log is read, its starts and ends paired, a job turned into a recording and a report.

    python benchmarks/analyse_ascend.py [--size MB] [--repeat N] [CAPTURE]

Without a capture one is made: tasks of 16 streams that overlap and leave gaps as in a real one, in steps. Each figure is the best of N runs
in fresh processes, wall and processor time; the memory is the process's peak.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

NAME = "hwts.log.data.45.dev.profiler_default_tag.0.slice_0"
STREAMS, OPERATORS, A_STEP = 16, 2000, 10_000
SPACING = 200
"""Ticks from one task's start to the next one's; it takes about as many."""


def make(folder: Path, megabytes: int) -> None:
    """A capture of this size: each stream runs its tasks one after the other, and the log has all in the order of their times."""
    from summarykit.profiler.parsers.ascend.hwts import LAYOUT, MAGIC

    random, tasks = np.random.default_rng(3), megabytes * (1 << 20) // 128
    stream = random.integers(0, STREAMS, tasks)
    begin = np.sort(random.integers(0, tasks * SPACING, tasks))
    records = np.zeros(2 * tasks, LAYOUT)
    records["time"] = np.concatenate([begin, begin + random.integers(1, 400, tasks)])
    records["stream"] = np.tile(stream + 500, 2)
    records["task"] = np.tile(25_000 + random.integers(0, OPERATORS, tasks), 2)
    records["head"] = np.repeat(np.array([0, 1], np.uint8), tasks)
    records["magic"] = MAGIC
    records = records[np.argsort(records["time"], kind="stable")]
    records["head"] |= (np.arange(2 * tasks) % 16 << 4).astype(np.uint8)
    (folder / NAME).write_bytes(records.tobytes())
    lines = "".join(f"Default/network/Mul-op{number} 1 {25_000 + number} 0\n" for number in range(OPERATORS))
    (folder / "Framework.host.vm.task_desc_info.0.slice_0").write_text(lines)
    _steps(folder / "training_trace.46.dev.profiler_default_tag.0.slice_0", tasks)


def _steps(path: Path, tasks: int) -> None:
    from summarykit.profiler.parsers.ascend import training_trace as trace

    count = max(tasks // A_STEP, 2)
    records = np.zeros((count, 4), trace.LAYOUT)
    records["tag"] = (0, trace.FORWARD_START, trace.BACKWARD_END, trace.NEW_STEP_END)
    records["time"] = (np.arange(count)[:, None] + (0, 0.1, 0.8, 1)) * A_STEP * SPACING
    path.write_bytes(records.tobytes())


def read(path: Path) -> int:
    """Records, as columns."""
    from summarykit.profiler.parsers.ascend import hwts

    return sum(map(len, hwts.read([path], Counter())))


def pair(path: Path) -> int:
    """Records, and each start with its end."""
    from summarykit.profiler.parsers.ascend import hwts
    from summarykit.profiler.parsers.ascend.pairing import Pairing

    pairing = Pairing(Counter())
    return sum(len(pairing.feed(block).start) for block in hwts.read([path], Counter()))


def recording(path: Path) -> int:
    """The whole job: spans with their names, times of operators as upstream and truly."""
    from summarykit.profiler.parsers import ascend

    return len(ascend.parse(path.parent)[0].spans)


def report(path: Path) -> int:
    """What a user gets: the report as text, as a page and for programs, and every table."""
    from summarykit.profiler.analysis import Profile, analyse

    found = analyse(path.parent)
    texts = (str(found), found.to_html(), found.to_json())
    return sum(map(len, texts)) and sum(found.table(name).rows for name in Profile.TABLES)


CASES: dict[str, Callable[[Path], int]] = {"read": read, "read and pair": pair, "whole job": recording, "report": report}


def measure(case: str, path: Path) -> None:
    """Run one case once and print its figures."""
    wall, processor = time.perf_counter(), time.process_time()
    found = CASES[case](path)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    size = path.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"found": found, "wall": size / wall, "processor": size / processor, "peak": peak}))


def main() -> None:
    """Measure every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("capture", nargs="?", type=Path, help="an hwts file with its job around it")
    parser.add_argument("--size", type=int, default=512, help="of the capture that is made, in MB")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--case", choices=[*CASES, "make"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case == "make":          # in a process of its own: its memory would count for those that it starts
        make(options.capture, options.size)
        return
    if options.case:
        measure(options.case, options.capture)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.capture is None:
            subprocess.run([sys.executable, __file__, folder, "--case", "make", "--size", str(options.size)], check=True)
        path = options.capture or Path(folder, NAME)
        print(f"{path.name}, {path.stat().st_size / 1e6:,.0f} MB")
        for case in CASES:
            _tell(case, path, options.repeat)


def _tell(case: str, path: Path, repeat: int) -> None:
    command = [sys.executable, __file__, str(path), "--case", case]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(repeat)]
    best = {name: max(run[name] for run in runs) for name in ("wall", "processor")}
    least = min(run["peak"] for run in runs)
    speed = f"{best['wall']:7,.0f} MB/s wall {best['processor']:7,.0f} MB/s processor"
    print(f"{case:14} {speed} {least:7,.0f} MB peak {runs[0]['found']:12,} found")


if __name__ == "__main__":
    main()
