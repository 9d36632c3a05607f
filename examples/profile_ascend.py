"""What an Ascend device did: its raw captures become a report, answers to questions, and files that MindInsight's profiler page opens.

    python examples/profile_ascend.py [CAPTURES] [DIRECTORY]

CAPTURES is the folder of a job (``hwts.log.data…``, ``training_trace…``, ``Framework.host…``) or of several; without it the example makes a
small one: thirty steps, of which every third waits for its data. ``mindinsight start --summary-base-dir DIRECTORY`` shows the result.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from summarykit import SummaryRecord
from summarykit.profiler.analysis import analyse
from summarykit.profiler.intermediate import write_intermediate
from summarykit.profiler.parsers import read
from summarykit.profiler.queries import Queries
from summarykit.profiler.recording import Recording
from summarykit.profiler.report_text import text

MS = 100_000              # a device counts in ticks of 10 ns
FIRST_TASK = 30_000
OPERATORS = {"Default/network/Conv2D-op1": 3.0, "Default/network/MatMul-op2": 1.5, "Gradients/Default/network/Conv2DBackprop-op3": 5.0}


def main(captures: str | None, directory: str) -> None:
    """Read, tell, write."""
    if captures is None:
        captures = str(Path(directory, "captures"))
        make(Path(captures))
    for recording in read(captures):
        print(text(analyse(recording)))
        ask(recording)
        place = Path(directory, recording.path.name)
        files = write_intermediate(recording, place / "profiler")
        record(recording, place)
        print(f"{len(files)} files for MindInsight in {place / 'profiler'}\n")


def ask(recording: Recording) -> None:
    """The operators that take longest, as MindInsight's page would show them."""
    slowest = {"sort_condition": {"name": "avg_execution_time", "type": "descending"}, "group_condition": {"limit": 3, "offset": 0}}
    for row in Queries(recording).operators("aicore_detail", slowest).rows:
        print(f"{row[1]:24} {row[3]:10.1f} µs, {row[4]:.0f} times")


def record(recording: Recording, place: Path) -> None:
    """The length of each step as a scalar, so that the run is in the list of both viewers."""
    steps = recording.tables.get("steps")
    if steps is None:
        return
    with SummaryRecord(place) as summary:
        for step, start, end in zip(*(steps[name].tolist() for name in ("step", "start", "end")), strict=True):
            summary.add_value("scalar", "step_time_ms", (end - start) / 1e6)
            summary.record(step)


def make(folder: Path) -> None:
    """Write a capture as a device does."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = "".join(f"{name} 32 {number} 0\n" for number, name in enumerate(OPERATORS, FIRST_TASK))
    events, points, time = list[tuple[int, int, int]](), list[tuple[int, int]](), 1000 * MS
    for step in range(30):
        time += 6 * MS * (step % 3 == 2)
        points.append((1, time))                      # the forward pass starts
        for number, length in enumerate(OPERATORS.values(), FIRST_TASK):
            events += [(0, time, number), (1, time + int(length * MS), number)]
            time += int(length * MS)
        points += [(2, time), (255, time + MS)]       # the backward pass ends, the step ends
        time += MS
    (folder / "Framework.host.vm.task_desc_info.0.slice_0").write_text(tasks)
    (folder / "hwts.log.data.45.dev.profiler_default_tag.0.slice_0").write_bytes(b"".join(map(task, range(len(events)), events)))
    steps = b"".join(struct.pack("<QHHQ", tag, 0, 0, moment) for tag, moment in points)
    (folder / "training_trace.46.dev.profiler_default_tag.0.slice_0").write_bytes(steps)


def task(count: int, event: tuple[int, int, int]) -> bytes:
    """A record of the hardware's task log."""
    kind, moment, number = event
    return struct.pack("<BBHHHQI", kind | (count & 15) << 4, 0, 0x6BD3, 0, number, moment, 7).ljust(64, b"\0")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None, sys.argv[2] if len(sys.argv) > 2 else "./summary")
