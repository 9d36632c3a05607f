"""Which Python functions and lines take the time: from a trace with stacks, or from the sampler."""

from __future__ import annotations

import re

import numpy as np

from summarykit.profiler.analysis.grouping import Groups
from summarykit.profiler.analysis.nesting import Nesting, outermost
from summarykit.profiler.recording import Category, Recording, Table
from summarykit.shapes import Array, Ints

_PLACE = re.compile(r"\$?(?P<file>[^():]+?)[:(](?P<line>\d+)\)?:?\s*(?P<function>.*)$")
_SAMPLED = re.compile(r"(?P<function>.*) \((?P<file>.*):(?P<line>\d+)\)$")
_UNPLACED = re.compile(r"^\$(<unknown> )?")    # as JAX writes what has no file
_BUILT_IN = re.compile(r"<?(?P<function>built-in (?:method|function) [^\s>]+)(?: of .* at 0x[0-9a-f]+)?>?$")
_OURS = re.compile(r"summarykit[\\/](profiler|training)[\\/]")
_WORK = re.compile(r"summarykit[\\/]profiler[\\/](collectors[\\/](kineto|jax|bounded)|window|controller|profiler)\.py")
"""What lies within is the profiler's own work, told under its costs; our other frames only lead to what they call."""


def python_code(recording: Recording) -> Table:
    """Python functions and lines, those first in which most time passed.

    Returns:
        ``function``, ``file``, ``line`` (0 where unknown), ``count``, and in ms ``total`` (with what they call) and ``self`` (without).
    """
    spans = recording.spans
    chosen = np.flatnonzero(spans.of(Category.PYTHON))
    if "samples" in recording.tables or not len(chosen):
        return _sampled(recording)
    nesting = Nesting(spans, chosen)
    used, place = np.unique(spans.name[chosen], return_inverse=True)
    texts, alike = np.unique([_without_address(spans.names[name]) for name in used.tolist()], return_inverse=True)
    name = alike[place]
    groups, outer = Groups(name), outermost(name, nesting.above)
    total, own = groups.sum(np.where(outer, spans.duration[chosen], 0)), groups.sum(nesting.self_time)
    order = np.lexsort((-total, -own))
    places = [_place(text) for text in texts[groups.keys[order]].tolist()]
    return Table(
        function=np.array([place[0] for place in places], object),
        file=np.array([place[1] for place in places], object),
        line=np.array([place[2] for place in places], np.int64),
        count=groups.count[order],
        total=total[order] / 1e6,
        self=own[order] / 1e6,
    )


def _without_address(name: str) -> str:
    """``built-in method add_`` of ``<built-in method add_ of Tensor object at 0x7fe4aa74f010>``: each tensor's is the same."""
    built_in = _BUILT_IN.match(name)
    return built_in["function"] if built_in else name


def _sampled(recording: Recording) -> Table:
    """The same by samples of stacks: a sample stands for the time until the next one was due.

    Where phases tell which thread trains, only that one counts: the others mostly wait for something.
    """
    samples, stacks = recording.tables.get("samples", Table()), recording.tables.get("stacks", Table())
    if not (samples.rows and stacks.rows):
        return Table()
    period = recording.meta.get("collected", {}).get("stacks", {}).get("period_ns", 10_000_000) / 1e6
    stack = samples["stack"][trains(recording, samples["lane"])]
    own = np.bincount(stack[~profiling(stacks)[stack]], minlength=stacks.rows)
    texts, name = np.unique(stacks["frame"].astype(str), return_inverse=True)
    total = np.bincount(name, np.where(outermost(name, stacks["parent"]), _with_callees(own, stacks["parent"]), 0))
    self_time = np.bincount(name, own, minlength=len(texts))
    order = np.lexsort((-total, -self_time))
    ours = np.array([_OURS.search(text) is not None for text in texts], np.bool_)
    order = order[(total[order] > 0) & ~ours[order]]
    places = [_place(text) for text in texts[order].tolist()]
    return Table(
        function=np.array([place[0] for place in places], object),
        file=np.array([place[1] for place in places], object),
        line=np.array([place[2] for place in places], np.int64),
        count=self_time[order].astype(np.int64),
        total=total[order] * period,
        self=self_time[order] * period,
    )


def profiling(stacks: Table) -> Array:
    """Which stacks are of the profiler at its own work: bool, shape ``[n]``."""
    work = [_WORK.search(str(frame)) is not None for frame in stacks["frame"]]
    for stack, parent in enumerate(stacks["parent"].tolist()):    # a caller's number is below that of what it calls
        work[stack] = work[stack] or (parent >= 0 and work[parent])
    return np.array(work, np.bool_)


def trains(recording: Recording, lanes: Ints) -> Array:
    """Which samples are of the thread that trains."""
    spans = recording.spans
    marked = spans.lane[spans.of(Category.PHASE)]
    here = lanes == np.bincount(marked).argmax() if len(marked) else np.ones(len(lanes), np.bool_)
    return here if here.any() else np.ones(len(lanes), np.bool_)


def _with_callees(own: Ints, parent: Ints) -> Ints:
    """Samples in each stack and in those that go on from it; a caller's number is below that of what it calls."""
    total = own.copy()
    for stack in range(len(total) - 1, -1, -1):
        if parent[stack] >= 0:
            total[parent[stack]] += total[stack]
    return total


def _place(name: str) -> tuple[str, str, int]:
    """Function, file and line, from one of the ways to write them, or a function's name alone.

    They are ``"file.py(12): function"``, ``"$file.py:12 function"`` and ``"function (file.py:12)"``.
    """
    found = _SAMPLED.match(name) or _PLACE.match(name)
    return (found["function"] or name, found["file"], int(found["line"])) if found else (_UNPLACED.sub("", name), "", 0)
