"""Networks of MindSpore: its own graph where there is one; MindInsight sees the same of ours."""

from __future__ import annotations

import pytest

from summarykit import Run
from summarykit.errors import RefusedValueError
from summarykit.formats.mindspore.graph import as_file, decode, encode
from summarykit.kinds.graph import GRAPH
from summarykit.shapes import Graph, Node, TensorType

PROGRAM = """
import sys
import mindspore as ms
from mindspore import nn, ops
from summarykit import SummaryRecord
from summarykit.kinds.graph import GRAPH

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.relu = nn.ReLU()
        self.head = nn.SequentialCell(nn.Flatten(), nn.Dense(32, 3))

    def construct(self, x):
        return self.head(self.relu(self.conv(x)))

ms.set_context(mode=ms.GRAPH_MODE)
net = Net()
cells = GRAPH.snapshot(net).graph
assert [node.name for node in cells.nodes if node.op == "Dense"] == ["head/1/Dense"], cells.nodes
assert {node.name for node in cells.nodes if node.op == "Parameter"} >= {"conv/weight", "head/1/weight"}, cells.nodes
net(ops.zeros((1, 1, 4, 4), ms.float32))
with SummaryRecord(sys.argv[1]) as record:
    record.add_value("graph", "train_network/auto", net)
    record.record(1)
"""


def test_bytes_of_its_graph():
    made = Graph((Node("x", Node.PARAMETER, outputs=(TensorType("float32", (2,)),)), Node("net/ReLU-op1", "ReLU", ("x",))), "net")
    assert GRAPH.snapshot(as_file(made)).graph == made


@pytest.mark.parametrize("content", [b"\xff\xff\xff", b"no graph"])
def test_other_bytes_are_refused(content):
    with pytest.raises(RefusedValueError, match="no serialised ModelProto"):
        GRAPH.snapshot(content)


@pytest.mark.shared
def test_its_graph_passes_through_us_unchanged(shared):
    (graph,) = Run(shared / "data/mindspore/graph_mode").graph()
    again = decode(encode(graph))
    assert {node.name: (node.op, node.inputs, node.outputs) for node in again.nodes} == {
        node.name: (node.op, node.inputs, node.outputs) for node in graph.nodes
    }
    assert len(graph.nodes) > 100


@pytest.mark.slow
def test_a_network_that_has_run_in_graph_mode(mindspore_python, tmp_path):
    from testkit.scripts import Script

    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")    # graph mode reads the source
    ended = Script(program, (str(tmp_path / "run"),), python=str(mindspore_python)).run(cwd=tmp_path).expect_success()
    assert "its cells are shown without what flows between them" in ended.stderr
    graph = Run(tmp_path / "run").graphs()["train_network/auto"]
    assert {"Conv2D", "ReLU", "MatMul", "BiasAdd"} <= {node.op for node in graph.nodes}
    assert {"conv.weight", "head.1.weight"} <= {node.name for node in graph.nodes if node.op == Node.PARAMETER}
    (conv,) = (node for node in graph.nodes if node.op == "Conv2D")
    assert conv.outputs == (TensorType("float32", (1, 2, 4, 4)),)
    assert conv.scope.endswith("conv-Conv2d")
