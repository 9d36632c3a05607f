"""Many spans are looked at a part at a time: the tables are the same as of all at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.analysis import Profile, operators, parts
from summarykit.profiler.analysis.intervals import Intervals
from summarykit.profiler.parsers import read
from summarykit.profiler.recording import Category, Lane, Recording, Spans, Table
from summarykit.profiler.timeline_svg import picture

LANES = [Lane(7, 1), Lane(7, 2), Lane(0, 3, device=True), Lane(0, 4, device=True), Lane(1, 3, device=True)]
NAMES = ["aten::mul", "cudaLaunchKernel", "gemm", "Memcpy HtoD", "Optimizer.step#SGD.step", "MulBackward0"]
span = st.tuples(st.integers(0, 300), st.integers(0, 60), st.integers(0, 5), st.integers(0, 12), st.integers(0, 4), st.integers(-1, 9))
step = st.tuples(st.integers(0, 300), st.integers(1, 90))


def recording(rows: list[tuple[int, ...]], begun: list[tuple[int, int]]) -> Recording:
    columns = np.array(rows, np.int64).reshape(-1, 6).T
    spans = Spans(columns[0], columns[1].astype(np.int32), *columns[2:], names=NAMES, lanes=LANES)
    spans.category = spans.category.astype(np.uint8)
    start, length = np.array(sorted(begun), np.int64).reshape(-1, 2).T
    steps = Table(step=np.arange(len(start)), start=start, end=start + length, duration=length / 1e6)
    return Recording("kineto", Path("x"), spans, {"steps": steps} if len(start) else {})


def tables(found: Recording) -> dict[str, dict[str, list[object]]]:
    profile = Profile(found)
    made = {name: profile.table(name) for name in Profile.TABLES} | {"causes": profile.causes}
    return {name: {title: column.tolist() for title, column in table.items()} for name, table in made.items()}


def few_at_a_time(patch: pytest.MonkeyPatch, most: int) -> None:
    patch.setattr(parts, "MOST", most)
    patch.setattr(parts, "PIECE", most)
    patch.setattr(operators, "MOST", most)


def same(one: dict[str, dict[str, list[object]]], other: dict[str, dict[str, list[object]]]) -> None:
    for name, table in one.items():
        assert list(table) == list(other[name]), name
        for title, column in table.items():
            if column and isinstance(column[0], float):
                assert column == pytest.approx(other[name][title], rel=1e-12, abs=1e-12, nan_ok=True), (name, title)
            else:
                assert column == other[name][title], (name, title)


@given(st.lists(span, max_size=40), st.lists(step, max_size=6), st.integers(1, 12))
def test_tables_do_not_depend_on_how_many_spans_are_looked_at_together(rows, begun, most):
    found = recording(rows, begun)
    whole = tables(found)
    with pytest.MonkeyPatch.context() as patch:
        few_at_a_time(patch, most)
        same(whole, tables(found))


@pytest.mark.shared
@pytest.mark.parametrize("place", ["kineto/tb_resnet50_nw0", "ascend/raw/JOB3", "ascend/raw/msprof"])
def test_nor_do_those_of_captures(shared, place, monkeypatch):
    for found in read(shared / "data/profiler" / place):
        whole = tables(found)
        monkeypatch.undo()
        few_at_a_time(monkeypatch, 500)
        same(whole, tables(found))


@given(st.lists(span, max_size=40), st.integers(0, 300), st.integers(1, 90), st.integers(1, 12))
def test_spans_that_are_on(rows, since, length, most):
    spans, until = recording(rows, []).spans, since + length
    with pytest.MonkeyPatch.context() as patch:
        few_at_a_time(patch, most)
        found = parts.on(spans, since, until).tolist()
    ends = spans.start + np.maximum(spans.duration, 1)    # one without a length is on where it begins
    assert found == [place for place in range(len(rows)) if spans.start[place] < until and ends[place] > since]


@given(st.lists(span, max_size=40), st.integers(1, 12))
def test_a_window_is_cut_without_a_gap(rows, most):
    spans, window = recording(rows, []).spans, (20, 250)
    with pytest.MonkeyPatch.context() as patch:
        few_at_a_time(patch, most)
        start, end = parts.cut(spans, window)
    assert Intervals.union(start, end).start.tolist() == [20]
    assert (start[1:] == end[:-1]).all()
    assert (end > start).all()
    assert end[-1] == 250


def test_of_very_many_spans_without_steps_those_in_the_middle_are_drawn(monkeypatch):
    found = recording([(place * 10, 10, 2, Category.KERNEL, 2, -1) for place in range(4000)], [])
    assert 'text-anchor="end">0.040 ms<' in picture(Profile(found))
    few_at_a_time(monkeypatch, 1000)
    assert 'text-anchor="end">0.010 ms<' in picture(Profile(found))
