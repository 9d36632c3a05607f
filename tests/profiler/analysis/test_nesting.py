"""Depth, caller and own time, compared with a stack that is kept by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from testkit.recordings import spans

from summarykit.profiler.analysis.nesting import Nesting, outermost
from summarykit.profiler.recording import Category

TREES = st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=4), max_leaves=20)


def laid_out(tree, lane: int, begin: int, depth: int, above: int, rows: list) -> int:
    """Lay a tree of calls out in time; gives its end. A leaf takes 1 ms, what calls something 1 ms before each and one at the end."""
    own = len(rows)
    rows.append(None)
    time, inner = begin + 1, 0
    for child in tree:
        end = laid_out(child, lane, time, depth + 1, own, rows)
        inner += end - time
        time = end + 1
    rows[own] = (lane, begin, time, depth, above, time - begin - inner)
    return time


@given(TREES, TREES, st.randoms())
def test_calls_nest_in_each_lane(first, second, random):
    rows: list = []
    for lane, tree in enumerate((first, second)):
        laid_out(tree, lane, 3, 0, -1, rows)
    order = list(range(len(rows)))
    random.shuffle(order)
    found = spans([("x", Category.HOST_OP, rows[row][0], rows[row][1], rows[row][2] - rows[row][1]) for row in order])
    nesting = Nesting(found, np.arange(len(rows)))
    assert nesting.around(np.array([0]), np.array([5])).tolist() == [-1]
    assert nesting.depth.tolist() == [rows[row][3] for row in order]
    assert nesting.above.tolist() == [order.index(rows[row][4]) if rows[row][4] >= 0 else -1 for row in order]
    assert nesting.self_time.tolist() == [rows[row][5] * 1_000_000 for row in order]


def test_what_calls_itself_counts_once():
    assert outermost(np.array([1, 2, 1, 1]), np.array([-1, 0, 1, -1])).tolist() == [True, True, False, True]


@given(TREES, st.lists(st.tuples(st.integers(0, 2), st.integers(-5, 60)), max_size=8))
def test_what_is_around_a_moment_is_the_innermost_that_is_open(tree, moments):
    rows: list = []
    laid_out(tree, 1, 3, 0, -1, rows)
    nesting = Nesting(spans([("x", Category.HOST_OP, *row[:2], row[2] - row[1]) for row in rows]), np.arange(len(rows)))
    found = nesting.around(np.array([lane for lane, _ in moments], int), np.array([time * 1_000_000 for _, time in moments], int))
    for (lane, time), place in zip(moments, found.tolist(), strict=True):
        around = [number for number, row in enumerate(rows) if row[0] == lane and row[1] <= time < row[2]]
        assert place == max(around, key=lambda number: rows[number][3], default=-1)


def test_nothing_nests():
    nesting = Nesting(spans(), np.arange(0))
    assert nesting.around(np.array([0]), np.array([5])).tolist() == [-1]
    assert nesting.depth.tolist() == nesting.above.tolist() == nesting.self_time.tolist() == []
