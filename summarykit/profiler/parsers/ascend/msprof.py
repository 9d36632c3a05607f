"""``PROF_<n>_<time>_<id>/device_<d>/timeline/{step_trace,task_time,hccl,msprof}_<d>_<model>_<iteration>.json``: msprof of MindSpore 2."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.profiler.parsers.ascend import hccl
from summarykit.profiler.parsers.ascend.device_info import json_object, numbers
from summarykit.profiler.parsers.ascend.events import events, nanoseconds
from summarykit.profiler.parsers.rows import table
from summarykit.profiler.recording import Category, Lane, Recording, Spans, Table

_DEVICE = re.compile(r"device_(\d+)$")
_FILE = re.compile(r"(?P<kind>step_trace|task_time|hccl|msprof)_(?P<device>\d+)_(?P<model>\d+)_(?P<iteration>\d+)\.json(?:\.gz)?$")
# Tasks of the hardware that are no operators: they wait for or tell others, or are pieces of a collective, which is told as a whole.
_PIECES = ("NOTIFY_WAIT", "NOTIFY_RECORD", "EVENT_WAIT", "EVENT_RECORD", "EVENT_RESET", "REDUCE_ASYNC_V2")
_PROCESSES = {"Ascend Hardware": Category.KERNEL, "CANN": Category.RUNTIME, "HCCL": Category.COMMUNICATION}


def sniff(path: Path) -> bool:
    """Whether it is such a folder: ``PROF_…``, or the one of a device in it."""
    try:
        return path.is_dir() and bool(_folders(path))
    except OSError:
        return False


def parse(path: Path) -> list[Recording]:
    """Read each device.

    Returns:
        Spans: tasks (``KERNEL``, by stream), calls of the host (``RUNTIME``), steps (``STEP``), communication.
        Tables beside the common ones: ``reduces`` as of ``ascend.job``, ``links`` (see ``hccl.links``). ``meta``: device, aic_frequency
        (MHz), ai_core_num.

    Raises:
        OSError: a file cannot be read.
    """
    return [_read(folder, int(match[1])) for folder in _folders(path) if (match := _DEVICE.search(folder.name))]


def _folders(path: Path) -> list[Path]:
    found = [path] if _DEVICE.search(path.name) else sorted(path.glob("device_*"))
    return [folder for folder in found if (folder / "timeline").is_dir() and any(map(_FILE.match, _names(folder / "timeline")))]


def _names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()]


def _files(folder: Path) -> dict[str, list[Path]]:
    """Files of each kind, by model and iteration."""
    found: dict[str, list[tuple[int, int, Path]]] = {}
    for entry in (folder / "timeline").iterdir():
        match = _FILE.match(entry.name)
        if match:
            found.setdefault(match["kind"], []).append((int(match["model"]), int(match["iteration"]), entry))
    return {kind: [path for _, _, path in sorted(entries)] for kind, entries in found.items()}


def _read(folder: Path, device: int) -> Recording:
    skipped: Counter[str] = Counter()
    files = _files(folder)
    gathered = _Gathered(device)
    tasks = files.get("msprof") or [*files.get("task_time", []), *files.get("hccl", [])]     # msprof files hold what the others hold
    for path in tasks:
        gathered.add(path, skipped)
    steps, reduces = _steps(files.get("step_trace", []), skipped)
    links = [event for path in files.get("hccl", []) for event in events(path, skipped)]
    tables = {"steps": steps, "reduces": reduces, "links": hccl.links(links, skipped)}
    info = json_object(folder / f"info.json.{device}", skipped)
    rank = info.get("rank_id")
    return Recording(
        "ascend", folder, gathered.spans(), {name: each for name, each in tables.items() if each.rows},
        rank=rank if isinstance(rank, int) and rank >= 0 else device, clock_offset=_clock_offset(folder, device, skipped),
        meta={"device": device, **numbers(info)}, skipped=+skipped,
    )


def _clock_offset(folder: Path, device: int, skipped: Counter[str]) -> int | None:
    start = json_object(folder / f"start_info.{device}", skipped)
    wall, raw = str(start.get("collectionTimeBegin", "")), str(start.get("clockMonotonicRaw", ""))
    return int(wall) * 1000 - int(raw) if wall.isdecimal() and raw.isdecimal() else None


def _steps(paths: list[Path], skipped: Counter[str]) -> tuple[Table, Table]:
    """Steps and their reductions; each file holds all iterations, and each iteration counts once."""
    steps: dict[int, list[int]] = {}
    reduces: dict[tuple[int, int], tuple[int, int]] = {}
    waits: dict[int, int] = {}
    for path in paths:
        for event in events(path, skipped):
            arguments = _arguments(event)
            if event.get("ph") == "t":
                waits[_number(event)] = nanoseconds(arguments.get("Data_aug Bound(us)")) or 0
            number = arguments.get("Iteration ID")
            start, duration = nanoseconds(event.get("ts")), nanoseconds(event.get("dur"))
            if not isinstance(number, int) or start is None:
                continue
            if event.get("cat") == "Iteration Time" and duration is not None:
                points = [nanoseconds(arguments.get(name)) for name in ("FP Start", "BP End", "Iteration End")]
                if None not in points:
                    steps[number] = [start, *(point for point in points if point is not None)]
            elif event.get("cat") == "Reduce" and duration is not None:
                reduces[number, _number(event)] = (start, start + duration)

    return _step_table(steps, waits), _reduce_table(reduces)


def _number(event: dict[str, Any]) -> int:
    """The number at the end of a name; -1 where there is none."""
    match = re.search(r"(\d{1,9})$", str(event.get("name")))
    return int(match[1]) if match else -1


def _arguments(event: dict[str, Any]) -> dict[str, Any]:
    arguments = event.get("args")
    return arguments if isinstance(arguments, dict) else {}


def _category(process: str, arguments: dict[str, Any]) -> Category:
    task = arguments.get("Task Type")
    if task in _PIECES or "task type" in arguments:     # the latter on the planes of the communication library
        return Category.OTHER
    return Category.MEMCPY if task == "MEMCPY_ASYNC" else _PROCESSES[process]


def _step_table(steps: dict[int, list[int]], waits: dict[int, int]) -> Table:
    """A step begins when it begins to wait for data, which is before its iteration begins."""
    rows = [
        (number, forward - waits[number] if number in waits else start, end, forward, backward)
        for number, (start, forward, backward, end) in sorted(steps.items())
    ]
    return table(rows, step=int, start=int, end=int, fp_start=int, bp_end=int)


def _reduce_table(reduces: dict[tuple[int, int], tuple[int, int]]) -> Table:
    rows = [(step, 0, index, 0, "parallel", start, end) for (step, index), (start, end) in sorted(reduces.items())]
    return table(rows, step=int, stream=int, index=int, tag=int, name=object, start=int, end=int)


@dataclass
class _Gathered:
    """Spans of one device's files."""

    device: int
    rows: set[tuple[int, int, str, int, tuple[str, int]]] = field(default_factory=set)

    def add(self, path: Path, skipped: Counter[str]) -> None:
        """Add a file's spans; those that another file told are not told again."""
        processes = {}
        for event in events(path, skipped):
            if event.get("ph") == "M" and event.get("name") == "process_name":
                processes[event.get("pid")] = _arguments(event).get("name", "")
            elif event.get("ph") == "X" and processes.get(event.get("pid")) in _PROCESSES:
                self._add(event, processes[event["pid"]], skipped)

    def _add(self, event: dict[str, Any], process: str, skipped: Counter[str]) -> None:
        start, duration = nanoseconds(event.get("ts")), nanoseconds(event.get("dur"))
        if start is None or duration is None or duration < 0:
            skipped["events without a time"] += 1
            return
        derived = str(event.get("cat", ""))        # FP_BP Time, Iteration Refresh, Reduce: they are in the table of steps
        if not derived or derived == "Iteration Time":
            category = Category.STEP if derived else _category(process, _arguments(event))
            thread = event["tid"] if isinstance(event.get("tid"), int) else 0
            self.rows.add((start, duration, str(event.get("name", "")), int(category), (process, thread)))

    def spans(self) -> Spans:
        """All of them, by their starts."""
        rows = sorted(self.rows)
        names = {name: place for place, name in enumerate(dict.fromkeys(row[2] for row in rows))}
        rails = {key: place for place, key in enumerate(dict.fromkeys(row[4] for row in rows))}
        lanes = [Lane(self.device, thread, f"{process} {thread}", device=process != "CANN", rank=self.device) for process, thread in rails]
        found = [(start, duration, names[name], category, rails[rail]) for start, duration, name, category, rail in rows]
        columns = table(found, start=int, duration=int, name=int, category=int, lane=int)
        return Spans(
            columns["start"], columns["duration"], columns["name"].astype(np.int32), columns["category"].astype(np.uint8),
            columns["lane"].astype(np.int32), np.full(len(rows), -1, np.int64), list(names), lanes,
        )
