"""Text: any text, to the character; tables of it; what is none is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.errors import RefusedValueError
from summarykit.kinds.text import TEXT


def recorded(value):
    shape = TEXT.reduce(TEXT.snapshot(value))
    assert shape.plugin == "text"
    return shape.data


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_kept_to_the_character(text):
    assert recorded(text).shape == ()
    assert recorded(text).item().decode() == text


def test_huge_text_is_kept_whole():
    assert len(recorded("ä" * 5_000_000).item()) == 10_000_000


def test_half_a_surrogate_pair_is_escaped():
    assert recorded("a\ud800b").item() == b"a\\ud800b"


def test_a_path_is_text():
    assert recorded(Path("runs/1")).item() == b"runs/1"


@pytest.mark.parametrize("table", [[["a", "b"], ["c", "ä"]], (("a", "b"), ("c", "ä")), np.array([["a", "b"], ["c", "ä"]])])
def test_a_table_has_rows_and_columns(table):
    assert recorded(table).tolist() == [[b"a", b"b"], [b"c", "ä".encode()]]


def test_a_list_is_a_table_of_one_axis():
    assert recorded(["a", "b"]).tolist() == [b"a", b"b"]


NO_TEXT = [None, 5, 1.5, [], [1], [["a"], ["b", "c"]], [["a"], "b"], [[]], ["a", ["b"]], {"a": 1}, b"bytes", np.zeros(3)]


@pytest.mark.parametrize("value", NO_TEXT)
def test_what_is_no_text_is_refused(value):
    with pytest.raises(RefusedValueError, match="text"):
        TEXT.snapshot(value)
