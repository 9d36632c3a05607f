"""Interval algebra, compared with sets of whole numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.analysis.intervals import NEVER, Intervals, shares

STRETCHES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 15)), max_size=12)


def made(stretches) -> tuple[Intervals, set[int]]:
    start = np.array([first for first, _ in stretches], np.int64)
    end = start + np.array([length for _, length in stretches], np.int64)
    return Intervals.union(start, end), {moment for first, length in stretches for moment in range(first, first + length)}


def moments(found: Intervals) -> set[int]:
    assert (found.end > found.start).all()
    assert (found.start[1:] > found.end[:-1]).all()
    return {moment for start, end in zip(found.start.tolist(), found.end.tolist(), strict=True) for moment in range(start, end)}


@given(STRETCHES, STRETCHES)
def test_union_intersection_and_difference_are_those_of_sets(first, second):
    (a, set_a), (b, set_b) = made(first), made(second)
    assert moments(a) == set_a
    assert a.total == len(set_a)
    assert moments(a | b) == set_a | set_b
    assert moments(a & b) == set_a & set_b
    assert moments(a - b) == set_a - set_b


@given(STRETCHES, STRETCHES)
def test_what_lies_within_windows(stretches, windows):
    found, there = made(stretches)
    start = np.array([first for first, _ in windows], np.int64)
    end = start + np.array([length for _, length in windows], np.int64)
    expected = [len(there & set(range(first, last))) for first, last in zip(start.tolist(), end.tolist(), strict=True)]
    assert found.within(start, end).tolist() == expected


@given(STRETCHES, STRETCHES)
def test_shares_give_every_moment_to_the_first_that_has_it(first, second):
    (a, set_a), (b, set_b) = made(first), made(second)
    window = set(range(5, 50))
    found = shares({"a": a, "b": b}, np.array([5]), np.array([50]))
    assert {name: int(time[0]) for name, time in found.items()} == {
        "a": len(set_a & window), "b": len((set_b - set_a) & window), "other": len(window - set_a - set_b)
    }  # fmt: skip


def test_nothing_is_a_set_too():
    some = Intervals.union(np.array([1]), np.array([4]))
    assert moments(NEVER | some) == moments(some - NEVER) == {1, 2, 3}
    assert moments(NEVER & some) == set()
    assert NEVER.within(np.array([0]), np.array([9])).tolist() == [0]
    assert len(NEVER.gaps()) == 0
