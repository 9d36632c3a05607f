"""Which rank the others wait for: by who arrives last at collectives, step after step.

A collective ends on all ranks at about the same time, when the last one has come. So who spends least time in it came last, and clocks need
not agree. Lengths of phases do not tell this: in a slow rank's backward the others wait, too, and look as slow as it does.

A rank is named where chance does not explain it: it is the late one in more steps than a fair draw would give in one of a thousand cases,
in four of ten steps or more, and what it costs is worth naming.
"""

from __future__ import annotations

from math import comb

import numpy as np

from summarykit.profiler.analysis.collectives import Matched
from summarykit.profiler.recording import Recording, Table
from summarykit.shapes import Array, Ints

_CHANCE = 1e-3
_MANY = 500
_OFTEN = 0.4
_COST = 0.02
"""Share of the step time."""


def stragglers(recordings: list[Recording], steps: Table) -> Table:
    """Who is late, and what that costs.

    Args:
        recordings: one of each rank.
        steps: those of the first recording.

    Returns:
        A row a rank: ``rank``, ``last`` (share of the steps in which it delayed the others most), ``lateness`` (ms a step by which it came
        after the last but one: what the step would gain), ``waited_for`` (ms a step that the others together waited for it), ``steps``,
        ``straggler`` (bool: the one that is named). No rows for a single rank or without collectives.
    """
    matched = Matched(recordings)
    ranks = len(recordings)
    if ranks < 2 or not len(matched.name):
        return Table()
    found, step = matched.table(), _steps_of(matched.start[:, 0], steps)
    count = int(step.max()) + 1
    lateness, wait = (_by_step(step, found["last"], found[column], count, ranks) for column in ("lateness", "wait"))
    last = np.bincount(lateness.argmax(axis=1), minlength=ranks)
    length = float(steps["duration"].mean()) if steps.rows else _length(matched, count)
    table = Table(
        rank=np.array([recording.rank for recording in recordings], np.int64),
        last=last / count,
        lateness=lateness.mean(axis=0),
        waited_for=wait.mean(axis=0),
        steps=np.full(ranks, count),
    )
    table["straggler"] = _is_named(table, last, count, length)
    return table


def _is_named(table: Table, last: Ints, count: int, length: float) -> Array:
    ranks = len(last)
    often = np.array([_by_chance(int(times), count, 1 / ranks) < _CHANCE for times in last])
    worth = table["lateness"] > _COST * length
    return often & worth & (table["last"] >= _OFTEN) & (np.arange(ranks) == table["lateness"].argmax())


def _by_chance(times: int, count: int, share: float) -> float:
    """How likely a fair draw gives so many or more."""
    if count > _MANY:    # Hoeffding's bound
        return float(np.exp(-2 * count * max(times / count - share, 0.0) ** 2))
    return sum(comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(times, count + 1))


def _steps_of(start: Ints, steps: Table) -> Ints:
    """The step of each collective, counted from 0: without steps each is one of its own."""
    if not steps.rows:
        return np.arange(len(start))
    place = np.searchsorted(steps["start"], start, side="right") - 1
    return np.unique(np.maximum(place, 0), return_inverse=True)[1]


def _by_step(step: Ints, rank: Ints, value: Array, count: int, ranks: int) -> Array:
    """Sums by step and rank, shape ``[steps, ranks]``."""
    return np.bincount(step * ranks + rank, value, minlength=count * ranks).reshape(count, ranks)


def _length(matched: Matched, count: int) -> float:
    """What stands for a step's length in ms where there are no steps."""
    return float(np.ptp(matched.start[:, 0])) / max(count, 1) / 1e6
