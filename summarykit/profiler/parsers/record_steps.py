"""The steps of our records, as they were told or as the phases show them."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.parsers.record_frames import Frames
from summarykit.profiler.recording import Category, Table
from summarykit.shapes import Ints


def steps(frames: Frames) -> Table:
    """As they were told; else each optimizer step ends one. ``fp_start`` and ``bp_end`` are the edges of forward and backward."""
    told = frames.table("steps", "step", "start", "begin", "end")
    if not len(told["step"]):
        told = _by_optimizer(frames)
    begins, _ = _phase(frames, "forward")
    _, ends = _phase(frames, "backward")
    return Table(
        step=told["step"],
        start=told["start"],
        end=told["end"],
        fp_start=_first_within(begins, told["begin"], told["end"]),
        bp_end=_last_within(ends, told["begin"], told["end"]),
    )


def _by_optimizer(frames: Frames) -> dict[str, Ints]:
    """Nobody told of steps: each goes from the end of one update to that of the next.

    An update is what optimizers do behind a backward pass, before anything else is done.
    """
    start, end = _phase(frames, "optimizer")
    backward, _ = _phase(frames, "backward")
    others = np.sort(np.concatenate([_phase(frames, name)[0] for name in ("data wait", "transfer", "forward", "backward")]))
    passes, group = np.searchsorted(backward, start), np.searchsorted(others, start)
    update = np.append(passes[:1] > 0, passes[1:] > passes[:-1])    # the first after another backward pass
    edge = np.array([end[group == one].max() for one in group[update].tolist()], np.int64)
    opened = frames.told("started", "perf", default=int(edge[0]) if len(edge) else 0)
    begin = np.append(opened, edge)[:-1]
    return {"step": np.arange(1, len(edge) + 1), "start": begin, "begin": begin, "end": edge}


def _phase(frames: Frames, phase: str) -> tuple[Ints, Ints]:
    """Starts and ends of one phase, by start."""
    numbers = [number for number, entry in enumerate(frames.entries("names", 0, "?")) if entry == (int(Category.PHASE), phase)]
    spans = frames.table("spans", "name", "start", "end")
    chosen = np.flatnonzero(np.isin(spans["name"], numbers))
    chosen = chosen[np.argsort(spans["start"][chosen], kind="stable")]
    return spans["start"][chosen], spans["end"][chosen]


def _first_within(times: Ints, begin: Ints, end: Ints) -> Ints:
    """The first of ascending times in each stretch; -1 where there is none."""
    place = np.searchsorted(times, begin)
    found = np.append(times, -1)[place]
    return np.where((found >= begin) & (found < end), found, -1)


def _last_within(times: Ints, begin: Ints, end: Ints) -> Ints:
    times = np.sort(times)
    place = np.searchsorted(times, end, side="right") - 1
    found = np.append(times, -1)[place]
    return np.where((found > begin) & (found <= end), found, -1)
