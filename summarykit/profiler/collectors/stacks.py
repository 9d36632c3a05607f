"""Where Python is, a hundred times a second: the stacks of all threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from threading import get_ident
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import Any

from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.names import NAMES
from summarykit.profiler.recording import Category

DEEPEST = 96
"""Frames of a stack that are kept: the innermost."""

SAMPLES = {"time": "int", "lane": "lane", "stack": "int"}


class Stacks(Collector):
    """Rows of ``samples`` (time, thread, number of the stack) and a list ``stacks``: number of the caller's stack or -1, innermost frame.

    A frame is named ``function (file:line)``. Code objects and lines are looked up once; a sample that was seen before costs one look
    into a dictionary.
    """

    key = "stacks"
    period = 0.01

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self._add = site.tape.table("samples", SAMPLES).add
        self._stacks = site.tape.lists.setdefault("stacks", [])
        self._known: dict[tuple[int, ...], int] = {}
        self._children: dict[tuple[int, int], int] = {}
        self._names: dict[tuple[int, int], int] = {}
        self._codes: dict[int, CodeType] = {}    # held, so that no other one gets its number
        self._begun = self._ended = 0

    def start(self) -> None:
        """See ``Collector``."""
        self._begun = perf_counter_ns()

    def stop(self) -> None:
        """See ``Collector``."""
        self._ended = perf_counter_ns()

    def tick(self) -> None:
        """See ``Collector``. What tells a stack from others is code and instruction of each frame, from the innermost out.

        Each look finds the caches of the processor cold, so what matters is how little it touches. A code object's own hash would go
        through all its code; a frame must not be held, nor may its number be trusted, which is another one's soon.
        """
        own, now = get_ident(), perf_counter_ns()
        for thread, innermost in sys._current_frames().items():
            if thread != own:
                places: list[int] = []
                frame: FrameType | None = innermost
                while frame is not None and len(places) < 2 * DEEPEST:
                    places += id(frame.f_code), frame.f_lasti
                    frame = frame.f_back
                stack = self._known.get(tuple(places))
                self._add((now, thread, self._enter(innermost) if stack is None else stack))

    def _enter(self, innermost: FrameType) -> int:
        """Write the frames of a new stack that are not known as its callers, the outermost first: as it is now, it may have gone on."""
        frames = list(_frames(innermost))
        stack = -1
        for code, instruction in reversed(frames):
            stack = self._child(stack, self._name(code, instruction))
        self._known[tuple(number for code, instruction in frames for number in (id(code), instruction))] = stack
        return stack

    def _name(self, code: CodeType, instruction: int) -> int:
        self._codes[id(code)] = code
        found = self._names.get((id(code), instruction))
        if found is None:
            found = self._names[id(code), instruction] = NAMES.number(_text(code, instruction), Category.PYTHON)
        return found

    def _child(self, parent: int, name: int) -> int:
        found = self._children.get((parent, name))
        if found is None:
            found = self._children[parent, name] = len(self._stacks)
            self._stacks.append((parent, name))
        return found

    def described(self) -> dict[str, Any]:
        """See ``Collector``: what lay between two samples in fact, which come late, or more rarely where they cost too much."""
        looked = (self._ended or perf_counter_ns()) - self._begun
        return {"period_ns": max(looked // max(self.cost.calls, 1), int(self.period * 1e9))}


def _frames(innermost: FrameType) -> Iterator[tuple[CodeType, int]]:
    frame: FrameType | None = innermost
    for _ in range(DEEPEST):
        if frame is None:
            return
        yield frame.f_code, frame.f_lasti
        frame = frame.f_back


def _text(code: CodeType, instruction: int) -> str:
    name = getattr(code, "co_qualname", code.co_name)    # qualified since Python 3.11
    return f"{name} ({code.co_filename}:{_line(code, instruction)})"


def _line(code: CodeType, instruction: int) -> int:
    lines = (line for start, end, line in code.co_lines() if start <= instruction < end and line)
    return next(lines, code.co_firstlineno)
