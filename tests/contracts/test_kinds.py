"""What every kind of value must do, whoever registered it."""

from __future__ import annotations

import pickle
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import get_args

import numpy as np
import pytest

from summarykit.errors import RefusedValueError
from summarykit.kinds import KINDS
from summarykit.shapes import Shape

# Something of every sort; a kind takes what it can of it and refuses the rest.
GOOD = {
    "number": lambda: np.ones(1, np.float32),
    "vector": lambda: np.linspace(0, 1, 20, dtype=np.float32),
    "picture": lambda: np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8),
    "text": lambda: "text",
    "clip": lambda: np.linspace(0, 1, 144, dtype=np.float32).reshape(3, 4, 4, 3),
    "pair": lambda: np.stack([np.arange(9) % 2, np.linspace(0, 1, 9)]),
    "rows": lambda: np.linspace(0, 1, 24, dtype=np.float32).reshape(6, 4),
    "points": lambda: np.linspace(0, 1, 15, dtype=np.float32).reshape(5, 3),
    "layout": lambda: {"losses": {"both": ["Multiline", ["train", "test"]]}},
    "surface": lambda: {"x": np.arange(3.0), "y": np.arange(2.0), "z": np.ones((2, 3))},
    "mapping": lambda: {"x": {"op": "Input"}, "y": {"op": "Relu", "inputs": ["x"]}},
}
if find_spec("matplotlib"):
    GOOD["figure"] = lambda: import_module("matplotlib.figure").Figure()
BAD = {
    "complex": lambda: np.ones((4, 4), np.complex64),
    "object": object,
    "objects": lambda: np.array([[object()]]),
    "texts": lambda: np.array([["a"]]),
    "none": lambda: None,
    "structured": lambda: np.zeros((2, 2), [("a", int)]),
}
NUMERIC = ("scalar", "histogram", "image", "tensor", "image_with_boxes", "video", "audio", "pr_curve", "pr_curve_raw", "mesh", "embedding")


@pytest.fixture(params=KINDS.names())
def kind(request):
    if request.param == "figure":
        pytest.importorskip("matplotlib")
    return KINDS.get(request.param)


def taken(kind):
    """The good values that this kind takes, each with its snapshot."""
    found = {}
    for name, make in GOOD.items():
        value = make()
        try:
            found[name] = value, kind.snapshot(value)
        except RefusedValueError:
            continue
    return found


def contents(part):
    """Everything in a shape, comparable."""
    if isinstance(part, np.ndarray):
        return part.tolist()
    if isinstance(part, tuple):
        return [contents(each) for each in part]
    return {name: contents(each) for name, each in vars(part).items()} if is_dataclass(part) else part


def test_it_is_found_by_its_name(kind):
    assert KINDS.get(kind.name) is kind


def test_it_takes_something_and_reduces_it_to_a_shape(kind):
    assert taken(kind)
    for _, snapshot in taken(kind).values():
        assert isinstance(kind.reduce(snapshot), get_args(Shape))


def test_its_snapshot_is_a_float_or_tells_its_size(kind):
    for value, snapshot in taken(kind).values():
        assert type(snapshot) is float or snapshot.nbytes >= 0
        if isinstance(value, np.ndarray) and type(snapshot) is not float:
            assert snapshot.nbytes == value.nbytes


def test_va13_its_snapshot_is_independent_of_the_value(kind):
    for value, snapshot in taken(kind).values():
        before = contents(kind.reduce(snapshot))
        if isinstance(value, np.ndarray):
            value[...] = 0
        assert contents(kind.reduce(snapshot)) == before


def test_its_snapshot_may_travel_to_a_worker_process(kind):
    """Pickled; there its arrays lie in memory that cannot be written to."""
    for _, snapshot in taken(kind).values():
        buffers = []
        content = pickle.dumps(snapshot, 5, buffer_callback=lambda buffer, buffers=buffers: buffers.append(buffer.raw()))
        there = pickle.loads(content, buffers=[bytes(buffer) for buffer in buffers])
        assert contents(kind.reduce(there)) == contents(kind.reduce(snapshot))


def test_it_does_not_change_the_value(kind):
    for value, snapshot in taken(kind).values():
        before = np.copy(value)
        kind.reduce(snapshot)
        assert np.array_equal(value, before)


@pytest.mark.parametrize("bad", BAD)
def test_va12_a_bad_value_is_refused_and_costs_nothing_else(kind, bad):
    """As `RefusedValueError`; kinds of other values (text …) may take some of them."""
    try:
        kind.reduce(kind.snapshot(BAD[bad]()))
    except RefusedValueError:
        refused = True
    else:
        refused = False
    assert refused or kind.name not in NUMERIC
    assert taken(kind)


def test_text_is_no_number(kind):
    if kind.name in NUMERIC:
        with pytest.raises(RefusedValueError):
            kind.snapshot("1.5")


def test_an_unknown_option_is_an_error_of_the_call(kind):
    value, _ = next(iter(taken(kind).values()))
    with pytest.raises(TypeError):
        kind.snapshot(value, no_such_option=1)
