"""What the collective communication library says: which rank sent how much to which, over which kind of link, in what time.

``hccl_info_<device>/<operator>_<number>_…/*.json``: a Chrome trace for each round of an operator; in msprof's folders ``hccl_*.json``.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from summarykit.profiler.parsers.ascend.events import nanoseconds
from summarykit.profiler.parsers.ascend.files import text
from summarykit.profiler.parsers.rows import table
from summarykit.profiler.recording import Table

NO_RANK = 0xFFFFFFFF       # the other side is this rank itself
MOVES = ("Memcpy", "Reduce Inline")
SEND, WAIT, RECORD = "RDMASend", "Notify Wait", "Notify Record"

Links = dict[str, dict[str, list[float]]]


def links(events: Iterable[dict[str, Any]], skipped: Counter[str]) -> Table:
    """What went over each link: columns src, dst int64, link object (``SDMA``, ``RDMA``), time, wait (ms), size (KB of 1,000) float64."""
    rows = []
    for key, kinds in link_info(events, skipped).items():
        source, target = map(int, key.split("-"))
        rows += [(source, target, link, values[0], values[3] if len(values) > 3 else 0.0, values[1]) for link, values in kinds.items()]
    return table(rows, src=int, dst=int, link=object, time=float, wait=float, size=float)


def rounds(folder: Path, skipped: Counter[str]) -> Table:
    """Each round of each operator.

    Returns:
        Columns: operator object, start int64 ns, cost, wait float64 ms (of the main stream: the one with the largest number), links object
        (of all streams, as ``link_info`` gives them).
    """
    rows = []
    for place in sorted(folder.glob("*/*.json*")) if folder.is_dir() else []:
        events = [event for event in _trace(place, skipped) if isinstance(event.get("args"), dict)]
        starts = [start for event in events if (start := nanoseconds(event.get("ts"))) is not None]
        if starts:
            main = [event for event in events if _thread(event) == max(map(_thread, events))]
            cost, wait = _cost(main, skipped)
            rows.append((place.parent.name, starts[0], cost, wait, link_info(events, skipped)))
    return table(rows, operator=object, start=int, cost=float, wait=float, links=object)


def _trace(path: Path, skipped: Counter[str]) -> list[dict[str, Any]]:
    try:
        content = json.loads(text([path], skipped))
    except (ValueError, RecursionError):
        content = None
    events = content.get("traceEvents") if isinstance(content, dict) else content
    if not isinstance(events, list):
        skipped[f"{path.name} is no trace"] += 1
        return []
    return [event for event in events if isinstance(event, dict)]


def _thread(event: dict[str, Any]) -> int:
    return event["tid"] if isinstance(event.get("tid"), int) else -1


def _cost(events: list[dict[str, Any]], skipped: Counter[str]) -> tuple[float, float]:
    found = [values for kinds in link_info(events, skipped).values() for values in kinds.values()]
    waits = sum(_milliseconds(event) for event in events if _task(event) == WAIT)
    return sum(values[0] for values in found), waits - sum(values[3] for values in found if len(values) > 3)


def link_info(events: Iterable[dict[str, Any]], skipped: Counter[str]) -> Links:
    """``{"source-target": {"SDMA": [ms, KB, KB/s], "RDMA": [ms, KB, KB/s, ms of waiting]}}``."""
    sorted_out: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for event in events:
        key = _link(event, skipped)
        if key:
            _sort_in(sorted_out[key], event)
    measured = {"SDMA": _sdma, "RDMA": _rdma}
    return {key: {link: measured[link](group) for link, group in kinds.items()} for key, kinds in sorted_out.items() if kinds}


def _link(event: dict[str, Any], skipped: Counter[str]) -> str:
    arguments = event.get("args")
    if not isinstance(arguments, dict) or "src rank" not in arguments or "dst rank" not in arguments:
        return ""
    try:
        source, target = int(arguments["src rank"]), int(arguments["dst rank"])
    except (TypeError, ValueError):
        skipped["communication without ranks"] += 1
        return ""
    source, target = (target if source == NO_RANK else source), (source if target == NO_RANK else target)
    return f"{target}-{source}" if arguments.get("transport type") == "LOCAL" else f"{source}-{target}"


def _sort_in(kinds: dict[str, list[dict[str, Any]]], event: dict[str, Any]) -> None:
    """Local waits belong to the remote sends before them; a record of a notice moves nothing."""
    transport = event["args"].get("transport type")
    if transport in ("SDMA", "RDMA") and _task(event) != RECORD:
        kinds[transport].append(event)
    elif transport == "LOCAL" and "RDMA" in kinds:
        kinds["RDMA"].append(event)


def _sdma(events: list[dict[str, Any]]) -> list[float]:
    moves = [event for event in events if _task(event) in MOVES]
    return _measured(sum(map(_milliseconds, moves)), sum(map(_kilobytes, moves)))


def _rdma(events: list[dict[str, Any]]) -> list[float]:
    """One transfer is two sends and the wait behind them, on one stream."""
    total = [0.0, 0.0, 0.0]
    streams: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        streams[_thread(event)].append(event)
    for first, second, third in (triple for stream in streams.values() for triple in _triples(stream)):
        total[0] += _milliseconds(first) + _milliseconds(second) + _milliseconds(third)
        total[1] += _kilobytes(first) + _kilobytes(second)
        total[2] += _milliseconds(third)
    return [*_measured(total[0], total[1]), total[2]]


def _triples(stream: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    place = 0
    while place < len(stream) - 2:
        triple = stream[place : place + 3]
        found = [_task(event) for event in triple] == [SEND, SEND, WAIT]
        if found:
            yield triple
        place += 3 if found else 1


def _measured(time: float, size: float) -> list[float]:
    return [time, size, size / (time / 1e3) if size and time else 0.0]


def _task(event: dict[str, Any]) -> str:
    return str(event["args"].get("task type", "")).replace("_", " ")


def _milliseconds(event: dict[str, Any]) -> float:
    return (nanoseconds(event.get("dur")) or 0) / 1e6


def _kilobytes(event: dict[str, Any]) -> float:
    size = event["args"].get("size", event["args"].get("size(Byte)", 0))
    try:
        return (int(size, 16) if isinstance(size, str) else int(size)) / 1e3
    except (TypeError, ValueError):
        return 0.0
