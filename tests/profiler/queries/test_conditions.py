"""Conditions: filter, sort, page; as MindInsight defines them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.queries.answer import ask, shown

COLUMNS = ("name", "time", "info")
ROWS = [["Mul", 3.0, {"a": 1}], ["add", None, None], ["MatMul", 1, []], ["Sub", "x", None]]


def names(**condition):
    return [row[0] for row in ask(COLUMNS, ROWS, condition, unsortable=("info",)).rows]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"name": {"in": ["Mul", "x"]}}, ["Mul"]),
        ({"name": {"not_in": ["Mul"]}}, ["add", "MatMul", "Sub"]),
        ({"name": {"partial_match_str_in": ["mul", "AD"]}}, ["Mul", "add", "MatMul"]),
        ({"name": {"in": ["Mul"], "not_in": ["Mul"]}}, []),
        ({"name": {"like": ["Mul"]}}, []),
        ({"nothing": {"in": []}}, ["Mul", "add", "MatMul", "Sub"]),
        ({"is_display_detail": False}, ["Mul", "add", "MatMul", "Sub"]),
        ({"time": {"in": [1]}, "name": {"partial_match_str_in": ["m"]}}, ["MatMul"]),
        ({"time": {"partial_match_str_in": ["none"]}}, ["add"]),
    ],
)
def test_filter(wanted, found):
    assert names(filter_condition=wanted) == found


def test_sort():
    """None is lowest; values that do not compare go by the names of their types."""
    assert names(sort_condition={"name": "time", "type": "ascending"}) == ["add", "MatMul", "Mul", "Sub"]
    assert names(sort_condition={"name": "time"}) == ["Sub", "Mul", "MatMul", "add"]
    assert names(sort_condition={"name": ""}) == ["Mul", "add", "MatMul", "Sub"]
    for name in ("info", "nothing"):
        with pytest.raises(ValueError, match=r"sort_condition: name must be one of \['name', 'time'\], not '" + name):
            names(sort_condition={"name": name})


def test_page():
    answer = ask(COLUMNS, ROWS, {"group_condition": {"limit": 3, "offset": 1}})
    assert ([row[0] for row in answer.rows], answer.size) == (["Sub"], 4)
    assert names(group_condition={"offset": 0}) == ["Mul", "add", "MatMul", "Sub"]
    assert names(group_condition={"limit": None, "offset": None}) == names()
    for page in ({"limit": 0}, {"limit": 101}, {"limit": 1, "offset": -1}, {"limit": "x"}):
        with pytest.raises(ValueError, match="group_condition: limit must be from 1 to 100"):
            names(group_condition=page)


def test_an_answer_is_a_table_too():
    answer = ask(COLUMNS, ROWS, None)
    assert answer.table["name"].tolist() == ["Mul", "add", "MatMul", "Sub"]
    assert answer.to_dict()["col_name"] == list(COLUMNS)
    assert answer.table.to_pandas().shape == (4, 3)


def test_numbers_as_they_are_shown():
    assert [shown(value) for value in (0.12345678, 1.23456, "2.00049", "-", 3)] == [0.123457, 1.235, 2.0, "-", 3.0]


@given(st.lists(st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=2)), st.booleans())
def test_sorting_keeps_the_rows_and_the_order_of_equal_ones(values, up):
    rows = [[value, place] for place, value in enumerate(values)]
    found = ask(("value", "place"), rows, {"sort_condition": {"name": "value", "type": "ascending" if up else "descending"}}).rows
    assert sorted(row[1] for row in found) == list(range(len(rows)))
    if all(isinstance(value, int) for value in values):
        assert found == sorted(rows, key=lambda row: row[0], reverse=not up)


@given(st.integers(1, 100), st.integers(0, 5), st.integers(0, 300))
def test_pages_follow_each_other(limit, offset, count):
    rows = [[number] for number in range(count)]
    answer = ask(("number",), rows, {"group_condition": {"limit": limit, "offset": offset}})
    assert answer.rows == rows[limit * offset : limit * (offset + 1)]
    assert answer.size == count
