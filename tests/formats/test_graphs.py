"""Graphs in both formats: what goes in comes back; what the viewers demand of names is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.formats.mindspore import graph as mindspore
from summarykit.formats.mindspore.layout import MindSporeFormat
from summarykit.formats.proto.messages import message
from summarykit.formats.tensorboard import graph as tensorboard
from summarykit.formats.tensorboard.layout import TensorBoardFormat
from summarykit.reading import Run
from summarykit.shapes import BLOB_CLASS, Graph, Node, Plugin, Point, TensorType, strings

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
INT64 = st.integers(-(2**63), 2**63 - 1)
VALUES = st.booleans() | INT64 | st.floats(allow_nan=False, width=32) | st.text(st.characters(codec="utf-8"), max_size=9)
ATTRIBUTES = st.dictionaries(NAMES.filter(lambda name: name not in ("dtype", "_output_shapes")), VALUES, max_size=3)
LENGTHS = st.lists(st.integers(-1, 9), max_size=3).map(tuple)
TYPES = st.builds(TensorType, st.sampled_from(["", "float32", "int64", "bfloat16", "bool"]), st.none() | LENGTHS)


@st.composite
def graphs(draw, attributes_of_parameters=True):
    names = draw(st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=6, unique=True))
    nodes = []
    for name in names:
        op = draw(st.sampled_from(["Conv2d", "Relu", Node.PARAMETER, Node.INPUT, Node.CONSTANT]))
        parameter = op == Node.PARAMETER
        inputs = () if parameter or not nodes else tuple(draw(st.lists(st.sampled_from([node.name for node in nodes]), max_size=3)))
        attributes = draw(ATTRIBUTES) if not parameter or attributes_of_parameters else {}
        nodes.append(Node(name, op, inputs, attributes, tuple(draw(st.lists(TYPES, max_size=3)))))
    return Graph(tuple(sorted(nodes, key=lambda node: node.op != Node.PARAMETER)), draw(st.text(st.characters(codec="utf-8"), max_size=5)))


@given(graphs(attributes_of_parameters=False))
def test_mindspore_gives_a_graph_back(graph):
    assert mindspore.decode(mindspore.encode(graph)) == graph


@given(graphs().filter(lambda graph: len({node.name.translate(str.maketrans(":^", "__")) for node in graph.nodes}) == len(graph.nodes)))
def test_tensorboard_gives_a_graph_back(graph):
    assert tensorboard.decode(tensorboard.encode(graph)) == graph


@given(graphs())
def test_names_are_those_that_mindinsight_can_have(graph):
    """It refuses a graph with one of three characters, and takes what follows "op" of a reference with a slash."""
    found = message("mindspore.irpb.GraphProto").FromString(mindspore.encode(graph))
    shown = [each.full_name + each.op_type + each.scope for each in found.node] + [each.name for each in found.parameters]
    assert not set("<>\"") & set("".join(shown))
    references = [each.name for each in found.node] + [each.name for each in found.parameters]
    assert len(set(references)) == len(graph.nodes)
    assert not [name for name in references if "/" in name]
    assert {each.name for node in found.node for each in node.input} <= set(references)


@given(graphs(attributes_of_parameters=False), NAMES)
def test_a_graph_beside_another_comes_back_under_its_tag(graph, tag):
    for layout in (MindSporeFormat(), TensorBoardFormat()):
        for beside in (False, True):
            shown = replace(graph, beside=beside)
            (point,) = layout.parse(b"".join(map(bytes, layout.payload(Point("graph", tag, 3, 1.5, shown)))))
            assert (point.kind, point.tag, point.step, point.value) == ("graph", tag, 3, shown) or _renamed(graph)


def _renamed(graph):
    """Names that TensorBoard cannot tell apart: references go to one of them."""
    return len({node.name.translate(str.maketrans(":^", "__")) for node in graph.nodes}) < len(graph.nodes)


def test_records_of_traced_functions_that_hold_several_graphs_stay_what_they_are():
    made = message("tensorboard.RunMetadata")()
    for _ in range(2):
        made.function_graphs.add().pre_optimization_graph.node.add(name="a", op="Relu")
    for content in (made.SerializeToString(), b"\xff\xff"):
        value = Plugin(tensorboard.BESIDE, strings(content), b"1", BLOB_CLASS)
        assert tensorboard.of_plugin(value) is value


def test_names_are_those_that_tensorboard_can_have():
    graph = Graph((Node("a:0", "Input"), Node("^b", "Relu", ("a:0",))))
    found = message("tensorboard.GraphDef").FromString(tensorboard.encode(graph))
    assert [(node.name, list(node.input)) for node in found.node] == [("a_0", []), ("_b", ["a_0"])]


def test_inputs_of_tensorflow_name_their_nodes():
    """``a:1`` is the second output of a, ``^a`` has to come before; torch names nodes that are not there."""
    made = message("tensorboard.GraphDef")()
    made.node.add(name="a", op="Split")
    made.node.add(name="b", op="Add", input=["a:1", "^a", "a", "nowhere/x"])
    graph = tensorboard.decode(made.SerializeToString())
    assert graph.nodes[1].inputs == ("a", "a", "a", "nowhere/x")
    assert mindspore.decode(mindspore.encode(graph)).nodes[1].inputs == ("a", "a", "a")


@pytest.mark.shared
def test_graphs_of_torch_are_converted(shared):
    """Such a graph, drawn by torch's own writer, in MindSpore's form."""
    (graph,) = Run(shared / "data/tensorboard/r1").graph()
    again = mindspore.decode(mindspore.encode(graph))
    assert [(node.name, node.op, node.attributes, node.outputs) for node in again.nodes] == [
        (node.name, node.op, node.attributes, node.outputs) for node in graph.nodes
    ]


@pytest.mark.parametrize("codec", [mindspore, tensorboard])
def test_lists_come_back(codec):
    values = {"ints": [1, 2], "floats": [0.5, 2.0], "texts": ["a", "b"], "flags": [True, False], "none": []}
    (node,) = codec.decode(codec.encode(Graph((Node("n", "op", (), values),)))).nodes
    assert node.attributes == values


@pytest.mark.parametrize("codec", [mindspore, tensorboard])
def test_other_values_come_back_as_text(codec):
    (node,) = codec.decode(codec.encode(Graph((Node("n", "op", (), {"big": 2**70, "none": None}),)))).nodes
    assert node.attributes == {"big": str(2**70), "none": "None"}
