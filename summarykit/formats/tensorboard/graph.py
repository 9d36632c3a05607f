"""Graphs as TensorFlow's ``GraphDef``, and back.

Its page draws a box per scope, takes ``:1`` at the end of an input for the number of an output and a ``^`` in front of it for an order
without data, and writes the shapes that it finds in the attribute ``_output_shapes`` on the edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from summarykit.formats import wire
from summarykit.formats.proto.messages import message
from summarykit.formats.tensorboard.tensors import DTYPES, NUMBERS
from summarykit.shapes import BLOB_CLASS, Graph, Node, Plugin, Shape, TensorType, strings

NAME = 1000
"""Field of ``NodeDef``, and of ``GraphDef``: the name that was given, where TensorBoard cannot have it."""

BESIDE = "graph_run_metadata_graph"
"""Name of the plugin that shows the graphs of traced functions, each under its tag."""

_SHAPES, _TYPES = "_output_shapes", "dtype"
_PRODUCER = 22    # what TensorFlow 1 wrote; its page looks at nothing else of the versions
_INT64 = range(-(2**63), 2**63)
_PLAIN = {bool, int, float, str}
_LEGAL = str.maketrans({":": "_", "^": "_"})


def encode(graph: Graph) -> bytes:
    """The message, serialised."""
    return b"".join([
        *(wire.data(1, _node(node)) for node in graph.nodes),
        wire.data(4, wire.integer(1, _PRODUCER)), wire.text(NAME, graph.name),
    ])  # fmt: skip


def _node(node: Node) -> bytes:
    name = node.name.translate(_LEGAL)
    attributes = {key: _value(value) for key, value in node.attributes.items()} | _signature(node.outputs)
    return b"".join([
        wire.text(1, name), wire.text(2, node.op), *(wire.text(3, source.translate(_LEGAL)) for source in node.inputs),
        *(wire.data(5, wire.text(1, key) + wire.data(2, value)) for key, value in attributes.items()),
        wire.text(NAME, node.name) if name != node.name else b"",
    ])  # fmt: skip


def _signature(outputs: tuple[TensorType, ...]) -> dict[str, bytes]:
    """What a node gives, as attributes."""
    if not outputs:
        return {}
    shapes = wire.data(1, b"".join(wire.data(7, _shape(each.shape)) for each in outputs))
    types = [wire.integer(6, NUMBERS.get(each.dtype, 0)) for each in outputs]
    return {_SHAPES: shapes, _TYPES: types[0] if len(types) == 1 else wire.data(1, b"".join(types))}


def _shape(shape: tuple[int, ...] | None) -> bytes:
    if shape is None:
        return wire.integer(3, 1)
    return b"".join(wire.data(2, wire.integer(1, size)) for size in shape)


def _value(value: Any) -> bytes:
    """An ``AttrValue``; of a list, each in a message of its kind, as TensorFlow has it, where all are of one."""
    if isinstance(value, bool):
        return wire.integer(5, value)
    if isinstance(value, int) and value in _INT64:
        return wire.integer(3, value)
    if isinstance(value, float):
        return wire.single(4, value)
    kinds = {type(each) for each in value} if isinstance(value, (list, tuple)) else {type(None)}
    if len(kinds) <= 1 and kinds <= _PLAIN:
        return wire.data(1, b"".join(map(_value, value)))
    return wire.text(2, str(value))


def as_plugin(graph: Graph) -> Plugin:
    """A further graph of a run, which TensorBoard shows under its tag: TensorFlow's record of a function that was traced."""
    run_metadata = wire.data(4, wire.data(2, encode(graph)))
    return Plugin(BESIDE, strings(run_metadata), b"1", BLOB_CLASS)


def of_plugin(found: Shape) -> Shape:
    """The graph in such a value; anything else as it is."""
    from google.protobuf.message import DecodeError

    if not isinstance(found, Plugin) or found.plugin != BESIDE or found.data.dtype != object or found.data.size != 1:
        return found
    try:
        told = message("tensorboard.RunMetadata").FromString(found.data.item())
    except DecodeError:
        return found
    graphs = [_graph(each.pre_optimization_graph) for each in told.function_graphs]
    return replace(graphs[0], beside=True) if len(graphs) == 1 else found


def decode(content: bytes) -> Graph:
    """The graph in such a message, of ours or of others.

    Raises:
        google.protobuf.message.DecodeError: it is not such a message.
    """
    return _graph(message("tensorboard.GraphDef").FromString(content))


def _graph(found: Any) -> Graph:
    given = {each.name: each.given_name or each.name for each in found.node}
    return Graph(tuple(_decoded(each, given) for each in found.node), found.given_name)


def _decoded(found: Any, given: dict[str, str]) -> Node:
    attributes = {key: value for key, value in found.attr.items() if key not in (_SHAPES, _TYPES)}
    inputs = tuple(given.get(each) or _giver(each, given) for each in found.input)
    return Node(given[found.name], found.op, inputs, {key: _python(each) for key, each in attributes.items()}, _outputs(found.attr))


def _giver(source: str, given: dict[str, str]) -> str:
    """The node that an input names beside the number of an output, or as one that has to come before."""
    node = source.removeprefix("^").partition(":")[0]
    return given.get(node, source)


def _outputs(attributes: Any) -> tuple[TensorType, ...]:
    shapes = list(attributes[_SHAPES].list.shape) if _SHAPES in attributes else []
    types: list[int] = []
    if _TYPES in attributes:
        types = list(attributes[_TYPES].list.type) or [attributes[_TYPES].type]
    return tuple(TensorType(*each) for each in zip(*_filled(map(_dtype, types), map(_lengths, shapes)), strict=True))


def _filled(types: Iterable[str], shapes: Iterable[tuple[int, ...] | None]) -> tuple[list[str], list[tuple[int, ...] | None]]:
    """Both for every output: what is not told is not known."""
    left, right = list(types), list(shapes)
    return left + [""] * (len(right) - len(left)), right + [None] * (len(left) - len(right))


def _dtype(number: int) -> str:
    return DTYPES.get(number, "")


def _lengths(shape: Any) -> tuple[int, ...] | None:
    return None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)


def _python(found: Any) -> Any:
    """A value as Python has it: its own text where it is of another sort."""
    which = found.WhichOneof("value")
    if which == "s":
        return _text(found.s)
    if which in ("i", "f", "b"):
        return getattr(found, which)
    if which == "list":
        many = found.list
        return [*map(_text, many.s), *many.i, *many.f, *many.b, *map(_dtype, many.type), *map(_lengths, many.shape)]
    if which == "type":
        return _dtype(found.type)
    return str(_lengths(found.shape)) if which == "shape" else str(found).strip()


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
