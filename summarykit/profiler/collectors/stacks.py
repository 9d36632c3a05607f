"""Where Python is, a hundred times a second: the stacks of all threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from threading import get_ident
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import Any

from summarykit.notices import logger
from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.names import NAMES
from summarykit.profiler.recording import Category

DEEPEST = 96
"""Frames of a stack that are kept: the innermost."""
MOST = 100_000
"""Callers and what they call, over all stacks of a window: about 20 MB. Of a stack that needs more, what the callers call is not told."""
REMEMBERED = 20_000
"""Stacks, and places in the code, that a look need not resolve again: of 30 frames each 30 MB, of the deepest 90 MB. When there
are more all are forgotten."""

SAMPLES = {"time": "int", "lane": "lane", "stack": "int"}


class Stacks(Collector):
    """Rows of ``samples`` (time, thread, number of the stack) and a list ``stacks``: number of the caller's stack or -1, innermost frame.

    A frame is named ``function (file:line)``. Code objects and lines are looked up once; a sample that was seen before costs one look
    into a dictionary. A program that makes ever new code, or ever new stacks, does not fill the memory.
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
        self._begun = self._ended = self._cut = 0

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
        if len(self._known) + len(self._names) > REMEMBERED:
            self._forget()
        frames = list(_frames(innermost))
        stack = -1
        for code, instruction in reversed(frames):
            caller, stack = stack, self._child(stack, self._name(code, instruction))
            if stack < 0:
                self._say_cut()
                return caller
        self._known[tuple(number for code, instruction in frames for number in (id(code), instruction))] = stack
        return stack

    def _forget(self) -> None:
        """Let go of what can be looked up again; all at once, since numbers of code mean nothing without the code."""
        for memory in (self._known, self._names, self._codes):
            memory.clear()

    def _say_cut(self) -> None:
        if not self._cut:
            logger.warning("profiler: more than %d callers in the stacks: what else they call is not told apart, and counted", MOST)
        self._cut += 1

    def _name(self, code: CodeType, instruction: int) -> int:
        """The number of a frame's name; -1 for a new one where there is no room for what it would be in."""
        self._codes[id(code)] = code
        found = self._names.get((id(code), instruction))
        if found is None:
            number = NAMES.number if len(self._stacks) < MOST else NAMES.find
            found = self._names[id(code), instruction] = number(_text(code, instruction), Category.PYTHON)
        return found

    def _child(self, parent: int, name: int) -> int:
        """The number of a stack; -1 where there is no room for a new one."""
        found = self._children.get((parent, name), -1)
        if found < 0 and len(self._stacks) < MOST:
            found = self._children[parent, name] = len(self._stacks)
            self._stacks.append((parent, name))
        return found

    def described(self) -> dict[str, Any]:
        """See ``Collector``: what lay between two samples in fact, as looks come late or are made more rare, and how many were cut."""
        looked = (self._ended or perf_counter_ns()) - self._begun
        return {"period_ns": max(looked // max(self.cost.calls, 1), int(self.period * 1e9)), "cut": self._cut}


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
