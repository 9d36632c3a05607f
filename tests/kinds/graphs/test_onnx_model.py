"""ONNX models, made with its own helpers."""

from __future__ import annotations

import pytest

from summarykit.errors import MissingExtraError, RefusedValueError
from summarykit.kinds.graph import GRAPH
from summarykit.kinds.graphs import onnx_model
from summarykit.shapes import Node, TensorType


@pytest.fixture
def model():
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    weight = helper.make_tensor("fc.weight", kinds.FLOAT, [3, 2], [0.0] * 6)
    nodes = [
        helper.make_node("MatMul", ["x", "fc.weight"], ["hidden"], name="/fc/MatMul"),
        helper.make_node("LeakyRelu", ["hidden"], ["y"], alpha=0.5),
        helper.make_node("Split", ["y"], ["a", "b"], name="", axis=1, num_outputs=2),
    ]
    inputs = [helper.make_tensor_value_info("x", kinds.FLOAT, ["batch", 3])]
    outputs = [helper.make_tensor_value_info(name, kinds.FLOAT, None) for name in ("a", "b")]
    graph = helper.make_graph(nodes, "net", inputs, outputs, [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def graph(value):
    return GRAPH.reduce(GRAPH.snapshot(value))


def test_a_model(model):
    found = {node.name: node for node in graph(model).nodes}
    assert {name: (node.op, node.inputs) for name, node in found.items()} == {
        "fc.weight": (Node.PARAMETER, ()),
        "x": (Node.INPUT, ()),
        "fc/MatMul": ("MatMul", ("x", "fc.weight")),
        "LeakyRelu": ("LeakyRelu", ("fc/MatMul",)),
        "Split": ("Split", ("LeakyRelu",)),
        "a": (Node.OUTPUT, ("Split",)),
        "b": (Node.OUTPUT, ("Split",)),
    }
    assert found["x"].outputs == (TensorType("float32", (-1, 3)),)
    assert found["fc/MatMul"].outputs == (TensorType("float32", (-1, 2)),)
    assert found["LeakyRelu"].attributes == {"alpha": 0.5}
    assert found["Split"].attributes == {"axis": 1, "num_outputs": 2}
    assert graph(model).name == "net"


def test_a_file(model, tmp_path):
    onnx = pytest.importorskip("onnx")
    onnx.save(model, tmp_path / "net.onnx")
    assert graph(tmp_path / "net.onnx") == graph(str(tmp_path / "net.onnx")) == graph(model)


def test_what_is_no_model_is_refused(tmp_path):
    pytest.importorskip("onnx")
    (tmp_path / "net.onnx").write_bytes(b"\xff\xff\xff")
    for path in (tmp_path / "net.onnx", tmp_path / "nothing.onnx"):
        with pytest.raises(RefusedValueError, match="no ONNX model"):
            graph(path)


def test_without_onnx_the_extra_is_named(monkeypatch):
    def missing(module, **reason):
        raise MissingExtraError("pip install 'summarykit[onnx]'")

    monkeypatch.setattr(onnx_model, "optional", missing)
    with pytest.raises(RefusedValueError, match=r"summarykit\[onnx\]"):
        graph("net.onnx")
