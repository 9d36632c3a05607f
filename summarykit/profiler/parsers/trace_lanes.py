"""The rows of a trace: which thread of which process, and what a person reads there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from summarykit.profiler.parsers.columns import numbering, numbers
from summarykit.profiler.parsers.json_events import Event
from summarykit.profiler.recording import Lane
from summarykit.shapes import Array

_NUMBER = re.compile(r"-?\d{1,18}$")

Key = tuple[Any, Any]
"""Process and thread, in the writer's words: numbers or texts."""


class TraceLanes:
    """The rows that are known so far."""

    def __init__(self) -> None:
        """Know no row yet."""
        self._lanes = numbering()
        self._devices: set[int] = set()
        self._threads: dict[Lane, str] = {}
        self._processes: dict[int, str] = {}
        self._open: defaultdict[Lane, list[Event]] = defaultdict(list)

    @property
    def unfinished(self) -> int:
        """How many spans were begun and not ended."""
        return sum(map(len, self._open.values()))

    def numbered(self, keys: Iterable[Key]) -> Array:
        """The row of each key: int32."""
        return numbers(self._lanes, keys)

    def mark_devices(self, lanes: Array) -> None:
        """Remember that these rows belong to a device."""
        if len(lanes):
            self._devices.update(np.unique(lanes).tolist())

    def describe(self, event: Event) -> None:
        """Take the name of a process or thread from an event about it."""
        arguments, lane = event.get("args"), _lane(event.get("pid"), event.get("tid"))
        title = str(arguments.get("name", "")).strip() if isinstance(arguments, dict) else ""
        if event.get("name") == "thread_name":
            self._threads[lane] = title
        elif event.get("name") == "process_name":
            self._processes[lane.process] = title

    def titles(self, event: Event) -> tuple[str, str]:
        """Names of the process and the thread of an event, as far as they were told."""
        lane = _lane(event.get("pid"), event.get("tid"))
        return self._processes.get(lane.process, ""), self._threads.get(lane, "")

    def paired(self, event: Event) -> list[Event]:
        """The span that an event ends, if it ends one; an event that begins one is kept until then."""
        begun = self._open[_lane(event.get("pid"), event.get("tid"))]
        if event.get("ph") == "B":
            begun.append(event)
            return []
        return [{**begun[-1], "dur": event["ts"] - begun.pop()["ts"]}] if begun else []

    def described(self) -> list[Lane]:
        """All rows, in the order of their numbers."""
        return [self._described(key, number in self._devices) for key, number in self._lanes.items()]    # type: ignore[arg-type]

    def _described(self, key: Key, device: bool) -> Lane:
        lane = _lane(*key)
        title = self._threads.get(lane) or (key[1] if isinstance(key[1], str) and not _NUMBER.match(key[1]) else "")
        process = self._processes.get(lane.process, "")
        return Lane(lane.process, lane.thread, title or process or (f"stream {lane.thread}" if device else f"thread {lane.thread}"), device)


def _lane(process: Any, thread: Any) -> Lane:
    return Lane(_number(process), _number(thread))


def _number(word: Any) -> int:
    """The number in ``7``, ``"7"`` or ``"stream 7"``; -1 where there is none."""
    if isinstance(word, int | float):
        return int(word) if abs(word) < 2**63 else -1
    found = _NUMBER.search(word) if isinstance(word, str) else None
    return int(found.group()) if found else -1
