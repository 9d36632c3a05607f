"""Hyperparameters of any type, as TensorBoard's messages: each read back by the real schema's field numbers."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import math
from collections import OrderedDict, namedtuple
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.errors import RefusedValueError
from summarykit.formats import wire
from summarykit.formats.tensorboard.hparams import settings
from summarykit.kinds.hparams import HPARAMS


@dataclasses.dataclass
class Optimizer:
    lr: float = 0.1
    betas: tuple[float, float] = (0.9, 0.999)


class Schedule(enum.Enum):
    COSINE = "cosine"


def session(value, **options):
    """The settings of the session, the way our reader gets them."""
    group = HPARAMS.reduce(HPARAMS.snapshot(value, **options))
    parts = dict(group.parts)
    told = ["/experiment"] if {"metrics", "domains"} & options.keys() else []
    assert (group.tag, list(parts)) == ("_hparams_", [*told, "/session_start_info", "/session_end_info"])
    assert {part.plugin for part in parts.values()} == {"hparams"}
    return settings(parts["/session_start_info"].metadata)


def test_hp1_every_python_value_is_taken():
    Point = namedtuple("Point", "x y")
    given_ = {
        "l": [1, 2], "n": np.float32(1), "d": {"a": 1}, "o": None, "p": Path("x"), "c": Optimizer(), "b": True, "s": "text",
        "array": np.arange(3), "zero": np.array(5), "enum": Schedule.COSINE, "class": OrderedDict, "function": math.sqrt,
        "space": SimpleNamespace(k=1), "args": argparse.Namespace(epochs=3), "named": Point(1, 2), "empty": {},
        "nested": {"a": {"b": False}}, "set": {1}, "mixed": [Path("y"), None, 1.5],
    }  # fmt: skip
    assert session(given_) == {
        "l": "[1, 2]", "n": 1.0, "d/a": 1.0, "o": "None", "p": "x", "c/lr": 0.1, "c/betas": "[0.9, 0.999]", "b": True, "s": "text",
        "array": "[0, 1, 2]", "zero": 5.0, "enum": "cosine", "class": "collections.OrderedDict", "function": "math.sqrt",
        "space/k": 1.0, "args/epochs": 3.0, "named/x": 1.0, "named/y": 2.0, "empty": "{}", "nested/a/b": False,
        "set": "{1}", "mixed": "['y', 'None', 1.5]",
    }  # fmt: skip


PLAIN = st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)


@given(st.dictionaries(NAMES, PLAIN))
def test_plain_settings_come_back_as_they_were(given_):
    found = session(given_)
    assert found == given_
    assert [type(value) for value in found.values()] == [type(value) for value in given_.values()]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 2**53 + 1, 10**400, np.float64("nan")])
def test_numbers_that_the_page_cannot_hold_are_text(number):
    """JSON, which the page gets, has no NaN; a browser rounds integers beyond 2**53."""
    assert session({"x": number}) == {"x": str(number)}


def test_half_a_surrogate_pair_costs_nothing_else():
    assert session({"a\ud800": "b\ud800", "c": 1}) == {"a?": "b?", "c": 1.0}


def test_a_value_that_holds_itself_ends():
    loop = {"a": 1}
    loop["self"] = loop
    assert session(loop)["a"] == 1


def test_a_value_whose_text_raises_costs_itself_only():
    class Bad:
        def __str__(self):
            raise RuntimeError("no")

    assert session({"bad": Bad(), "good": 1}) == {"bad": "<Bad: RuntimeError>", "good": 1.0}


def test_long_text_is_cut():
    assert len(session({"x": "a" * 10_000, "array": np.zeros(100_000)})["x"]) == 4096


def test_experiment_tells_types_metrics_and_domains():
    given_ = {"lr": 0.1, "on": True, "net": "a"}
    parts = dict(HPARAMS.reduce(HPARAMS.snapshot(given_, metrics=["accuracy"], domains={"net": ["a", "b"]})).parts)
    ((_, experiment),) = wire.fields(parts["/experiment"].metadata)
    infos = [dict(wire.fields(content)) for field, content in wire.fields(experiment) if field == 4]
    assert [(info[1], info[4]) for info in infos] == [(b"lr", 3), (b"on", 2), (b"net", 1)]
    assert [value[1] for value in wire.fields(infos[2][5])] == [b"\x1a\x01a", b"\x1a\x01b"]
    metrics = [content for field, content in wire.fields(experiment) if field == 5]
    assert metrics == [wire.data(1, wire.text(2, "accuracy"))]


@pytest.mark.parametrize(("status", "number"), [("success", 1), ("failure", 2), ("running", 3)])
def test_status(status, number):
    parts = dict(HPARAMS.reduce(HPARAMS.snapshot({}, status=status)).parts)
    assert parts["/session_end_info"].metadata == wire.data(4, wire.integer(1, number))


@pytest.mark.parametrize("bad", [None, 5, "text", [1], [("a", 1)], Optimizer])
def test_what_holds_no_settings_is_refused(bad):
    with pytest.raises(RefusedValueError, match="hparams takes"):
        HPARAMS.snapshot(bad)


@pytest.mark.parametrize("options", [{"status": "done"}, {"domains": 5}, {"domains": {"a": 5}}])
def test_bad_options_are_refused(options):
    with pytest.raises(RefusedValueError, match=next(iter(options))):
        HPARAMS.snapshot({"a": 1}, **options)


@given(st.binary(max_size=60))
def test_garbage_holds_no_settings(content):
    assert isinstance(settings(content), dict)
