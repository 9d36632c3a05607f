"""What a metric depends on is found, and what it does not depend on is not."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.reading.lineage_importance import importance

RANDOM = np.random.default_rng(0)
RATE = RANDOM.uniform(0, 1, 40).tolist()
NOISE = RANDOM.uniform(0, 1, 40).tolist()
KIND = [("a", "b", "c")[number % 3] for number in range(40)]


@pytest.fixture(params=["forest", "correlation"])
def method(request, monkeypatch):
    if request.param == "forest":
        pytest.importorskip("sklearn")
    else:
        monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    return request.param


def test_the_setting_that_matters_comes_first(method):
    found = importance("loss", [3 * rate for rate in RATE], {"noise": NOISE, "rate": RATE, "same": [1] * 40})
    assert list(found.scores) == ["rate", "noise"]
    assert found.scores["rate"] > 0.9
    assert (method == "forest") == ("forest" in found.method)
    assert found.runs == 40


def test_texts_matter_too(method):
    found = importance("loss", [{"a": 1.0, "b": 5.0, "c": 2.0}[kind] for kind in KIND], {"noise": NOISE, "kind": KIND})
    assert next(iter(found.scores)) == "kind"
    assert found.scores["kind"] > 0.9


def test_the_order_of_the_runs_does_not_matter(method):
    target = [3 * rate + noise for rate, noise in zip(RATE, NOISE, strict=True)]
    there = importance("loss", target, {"rate": RATE, "noise": NOISE, "kind": KIND})
    back = importance("loss", target[::-1], {"rate": RATE[::-1], "noise": NOISE[::-1], "kind": KIND[::-1]})
    assert {name: round(score, 9) for name, score in there.scores.items()}.keys() == back.scores.keys()
    assert there.scores["rate"] == pytest.approx(back.scores["rate"])


def test_three_runs_are_needed():
    with pytest.raises(ValueError, match="importance for 'loss': 2 of these runs have a finite number there, 3 are needed"):
        importance("loss", [1, 2, None, float("nan"), "3", True], {"rate": [1, 2, 3, 4, 5, 6]})


VALUES = st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), VALUES, VALUES), min_size=3, max_size=9))
def test_any_values(rows):
    target, one, other = zip(*rows, strict=True)
    found = importance("loss", target, {"one": one, "other": other})
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in found.scores.values())
