"""Graphs: who reads which model, and what is checked."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit.errors import RefusedValueError
from summarykit.kinds.graph import GRAPH
from summarykit.shapes import Graph, Node, TensorType


def graph(value, **options):
    return GRAPH.reduce(GRAPH.snapshot(value, **options))


def test_a_mapping_is_a_graph():
    found = graph(
        {
            "x": {"op": "Input", "shape": [8, 3], "dtype": "float32"},
            "net/fc/weight": {"op": "Parameter", "dtype": "float32"},
            "net/fc/Linear": {"op": "Linear", "inputs": ["x", "net/fc/weight"], "attributes": {"bias": False}},
        }
    )
    assert found.nodes == (
        Node("x", "Input", outputs=(TensorType("float32", (8, 3)),)),
        Node("net/fc/weight", Node.PARAMETER, outputs=(TensorType("float32"),)),
        Node("net/fc/Linear", "Linear", ("x", "net/fc/weight"), {"bias": False}),
    )
    assert found.nodes[2].scope == "net/fc"


def test_a_graph_is_itself():
    made = Graph((Node("a", "Relu"),), "net")
    assert graph(made) is made


def test_its_size_grows_with_its_nodes():
    assert GRAPH.snapshot({"a": {"op": "Relu"}}).nbytes > 0


@pytest.mark.parametrize(
    "value",
    [
        {"a": "Relu"},
        {"a": {"inputs": []}},
        {"": {"op": "Relu"}},
        {1: {"op": "Relu"}},
        {"a": {"op": "Relu", "colour": "red"}},
        {"a": {"op": "Relu", "inputs": ["b"]}},
        {"a": {"op": "Relu", "inputs": 5}},
        {"a": {"op": "Relu", "shape": ["wide"]}},
        {"a": {"op": "Relu", "attributes": 5}},
        Graph((Node("a", "Relu"), Node("a", "Relu"))),
    ],
)
def test_what_is_no_graph_is_refused(value):
    with pytest.raises(RefusedValueError, match="graph"):
        GRAPH.snapshot(value)


@pytest.mark.parametrize("value", [None, 5, np.zeros(3), [1]])
def test_what_nobody_reads_is_refused(value):
    with pytest.raises(RefusedValueError, match="known: plain, keras, torch, mindspore, onnx, jax"):
        GRAPH.snapshot(value)
