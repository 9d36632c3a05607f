"""HP1: settings of any type are told exactly, or as text."""

from __future__ import annotations

import argparse
import enum
import json
from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.errors import RefusedValueError
from summarykit.formats.proto.messages import message
from summarykit.kinds import KINDS
from summarykit.kinds.json_values import json_value
from summarykit.shapes import Lineage

Pair = namedtuple("Pair", "left right")


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Spiteful:
    def __str__(self):
        raise ValueError("no")


@dataclass
class Settings:
    rate: float = 0.1
    layers: list = field(default_factory=lambda: [1, 2])


SELF: dict = {}
SELF["self"] = SELF


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None), (True, True), (2**70, 2**70), (0.1, 0.1), ("text", "text"), (np.float32(0.5), 0.5), (np.int64(2**53 + 1), 2**53 + 1),
        (np.bool_(True), True), (Path("a/b"), "a/b"), (PurePosixPath("c"), "c"), ([1, [2.0, None]], [1, [2.0, None]]), ((1, 2), [1, 2]),
        (range(3), [0, 1, 2]), ({"a": {1: 2}}, {"a": {"1": 2}}), (np.arange(3), [0, 1, 2]), (np.float64(1) * np.ones((1, 2)), [[1.0, 1.0]]),
        (Settings(), {"rate": 0.1, "layers": [1, 2]}), (Pair(1, "x"), {"left": 1, "right": "x"}), (argparse.Namespace(lr=1), {"lr": 1}),
        (Colour.RED, "red"), (Level.HIGH, 3), (dict, "dict"), (json.dumps, "json.dumps"), (Spiteful(), "<Spiteful: ValueError>"),
        (np.array(3), 3.0), (b"bytes", "b'bytes'"),
    ],
)  # fmt: skip
def test_hp1_a_value_as_json(value, expected):
    found = json_value(value)
    assert found == expected
    assert type(found) is type(expected)
    json.dumps(found)


def test_hp1_what_is_endless_or_huge_ends():
    json.dumps(json_value(SELF))
    assert len(json_value("x" * 10**7)) <= 2**18
    assert isinstance(json_value(np.zeros(10**6)), str)
    assert isinstance(json_value(list(range(5000))), str)


@given(st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()), lambda inner: st.one_of(
    st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4))))  # fmt: skip
def test_hp1_json_stays_as_it_is(value):
    assert json_value(value) == value


def test_what_the_user_changes_later_is_not_told():
    settings = {"layers": [1, 2]}
    snapshot = KINDS.get("custom_lineage_data").snapshot(settings)
    settings["layers"].append(3)
    assert snapshot.shape.values == {"layers": [1, 2]}


def test_mindspores_own_message_is_taken():
    theirs = message("mindspore.irpb.UserDefinedInfo")()
    theirs.user_info.add().map_int32["depth"] = 3
    shape = KINDS.get("custom_lineage_data").reduce(KINDS.get("custom_lineage_data").snapshot(theirs))
    assert (shape.part, shape.values) == (Lineage.CUSTOM, {"depth": 3})


@pytest.mark.parametrize("value", [3, "text", [1], None])
def test_anything_else_is_refused(value):
    with pytest.raises(RefusedValueError, match="eval_lineage takes a dict, dataclass or namespace"):
        KINDS.get("eval_lineage").snapshot(value)


def test_halves_of_a_session():
    kind = KINDS.get("hparams_session")
    start, end = kind.reduce(kind.snapshot({"lr": 0.1})), kind.reduce(kind.snapshot({}, status="failure"))
    assert [start.parts[0][0], end.parts[0][0]] == ["/session_start_info", "/session_end_info"]
    with pytest.raises(RefusedValueError, match="status='over' must be one of"):
        kind.snapshot({}, status="over")
