"""Numbers, sizes, times and tables as people and programs read them."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.cli import spell, table


@pytest.mark.parametrize(
    ("bytes_", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_400, "99.4 kB"), (99_600, "100 kB"), (999_600, "1.0 MB"), (3.2e15, "3200 TB")],
)
def test_sizes(bytes_, text):
    assert spell.size(bytes_) == text


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s ago"), (119, "1 min ago"), (7200, "2 h ago"), (86_400 * 3, "3 d ago")])
def test_ages(seconds, text):
    assert spell.ago(1e9, 1e9 + seconds) == text


def test_what_is_long_ago_or_to_come_is_a_date():
    assert spell.ago(1e9, 1e9 + 86_400 * 100).startswith("2001-09-")
    assert spell.ago(1e9, 1e9 - 86_400 * 2).startswith("2001-09-")


LEAVES = st.floats() | st.integers() | st.text() | st.none() | st.booleans()


@given(st.recursive(LEAVES, lambda some: st.lists(some) | st.dictionaries(st.text(), some)))
def test_json_is_valid_and_loses_nothing(document):
    text = spell.text(document)
    assert text.isascii()
    assert json.loads(text, parse_constant=lambda word: pytest.fail(word)) == spell.plain(document)


def test_json_of_arrays():
    document = {"a": np.array([[1.5, math.nan], [math.inf, -math.inf]]), "b": np.arange(2), "c": np.float32(0.5), "d": np.bool_(True)}
    assert json.loads(spell.text(document)) == {"a": [[1.5, "NaN"], ["Infinity", "-Infinity"]], "b": [0, 1], "c": 0.5, "d": True}
    assert [float(each) for each in ("Infinity", "-Infinity")] == [math.inf, -math.inf]


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5), st.none() | st.integers(30, 100))
def test_columns_are_aligned_whatever_is_in_them(rows, limit):
    lines = list(table.lines(("<name", ">number"), [(f"{name}x", f"{number}9") for name, number in rows], limit))
    assert len({table.width_of(line) for line in lines}) <= 1
    assert all(line.isprintable() for line in lines)


def test_empty_columns_are_left_out():
    assert list(table.lines(("<a", ">b", "<c"), [("x", "", "y"), ("zz", "", "")])) == ["a   c", "x   y", "zz"]
    assert list(table.lines(("<a", ">b"), [])) in ([], [""])


@given(st.text(), st.integers(3, 40))
def test_shortened_text_fits(text, limit):
    assert table.width_of(table.shorten(text, limit)) <= limit


@pytest.mark.parametrize("text", ["x" * 2_000_000, "漢" * 1_000_000, "é" * 2_000_000])
@pytest.mark.parametrize("side", "<~")
def test_of_a_huge_text_no_more_is_looked_at_than_needed(text, side):
    begun = time.thread_time()
    (_, line) = table.lines((f"{side}text", ">number"), [(text, "1")], 80)
    assert table.width_of(line) in (79, 80)
    assert time.thread_time() - begun < 60    # it was hours


def test_what_one_text_cannot_give_the_next_gives():
    rows = [("a" * 100, "b" * 90, "1" * 10)]
    assert [table.width_of(line) for line in table.lines(("<x", "~y", ">z"), rows, 60)] == [60, 60]
    wide = list(table.lines(("<x", "~y", ">z"), [("a" * 100, "b" * 90, "1" * 100)], 60))    # which breaks anyway
    assert "b" * 90 in wide[1]
