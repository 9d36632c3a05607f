"""Graphs as MindSpore's ``GraphProto``, and back.

What MindInsight makes of it: nodes refer to each other by number, to parameters by name, which must hold no ``/``; a node's place is its
full name, and the characters ``<>"`` anywhere would fail the whole graph. Where that changes a name, field 1000 beside it holds the
true one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from summarykit.formats import wire
from summarykit.formats.mindspore.dtypes import DTYPES, NUMBERS
from summarykit.formats.proto.messages import message
from summarykit.shapes import Blob, Graph, Node, Shape, TensorType

PATH = 1000
KIND = "graph"

_TENSOR, _TUPLE = 14, 31
_BOOL, _INT64, _FLOAT64, _STRING, _LIST = 1, 5, 12, 13, 32
_LEGAL = str.maketrans({"<": "(", ">": ")", '"': "'"})
_INT64_RANGE = range(-(2**63), 2**63)


def encode(graph: Graph) -> bytes:
    """The message, serialised.

    Left out are a parameter's attributes (MindSpore's have none), and inputs from where there is no node (as some graphs of torch have).
    """
    names = _names(graph.nodes)
    parts = [_parameter(node, names) if node.op == Node.PARAMETER else _node(node, names) for node in graph.nodes]
    return b"".join(parts) + wire.text(2, graph.name)


def as_blob(graph: Graph) -> Blob:
    """A further graph of a run: MindInsight has one of them in a summary, and reads others from files of their own."""
    return Blob(KIND, encode(graph))


def of_blob(found: Shape) -> Shape:
    """The graph in such a blob; anything else as it is.

    Raises:
        google.protobuf.message.DecodeError: it is not such a message.
    """
    return replace(decode(found.content), beside=True) if isinstance(found, Blob) and found.plugin == KIND else found


def as_file(graph: Graph) -> bytes:
    """A ``ModelProto``, as MindInsight reads it from a file whose name ends in ``.pb``."""
    return wire.data(4, encode(graph))


def _names(nodes: Iterable[Node]) -> dict[str, str]:
    """How each node is referred to."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for number, node in enumerate(nodes, 1):
        name = str(number)
        if node.op == Node.PARAMETER:
            name = node.name.replace("/", ".").translate(_LEGAL)
            while name in taken or name.isdigit():
                name += "_"
        taken.add(name)
        names[node.name] = name
    return names


def _node(node: Node, names: Mapping[str, str]) -> bytes:
    shown = node.name.translate(_LEGAL)
    return wire.data(1, b"".join([
        *(wire.data(1, wire.text(1, names[source]) + wire.integer(2, 0)) for source in node.inputs if source in names),
        wire.text(2, names[node.name]), wire.text(3, node.op.translate(_LEGAL)), wire.text(4, shown.rpartition("/")[0]),
        *(wire.data(5, wire.text(1, key) + wire.data(2, _value(value))) for key, value in node.attributes.items()),
        _types(6, node.outputs), wire.text(8, shown), wire.text(PATH, node.name) if shown != node.name else b"",
    ]))  # fmt: skip


def _parameter(node: Node, names: Mapping[str, str]) -> bytes:
    name = names[node.name]
    return wire.data(3, wire.text(1, name) + _types(2, node.outputs) + (wire.text(PATH, node.name) if name != node.name else b""))


def _types(field: int, outputs: tuple[TensorType, ...]) -> bytes:
    if len(outputs) == 1:
        return wire.data(field, _type(outputs[0]))
    if not outputs:
        return b""
    return wire.data(field, wire.integer(1, _TUPLE) + wire.data(3, b"".join(wire.data(1, _type(each)) for each in outputs)))


def _type(found: TensorType) -> bytes:
    """A ``TypeProto``; an empty one where nothing is known."""
    if found == TensorType():
        return b""
    dims = b"" if found.shape is None else wire.data(2, b"".join(wire.data(1, wire.integer(1, size)) for size in found.shape))
    return wire.integer(1, _TENSOR) + wire.data(2, wire.integer(1, NUMBERS.get(found.dtype, 0)) + dims)


def _value(value: Any) -> bytes:
    if isinstance(value, bool):
        return wire.integer(1, _BOOL) + wire.integer(2, value)
    if isinstance(value, int) and value in _INT64_RANGE:
        return wire.integer(1, _INT64) + wire.integer(3, value)
    if isinstance(value, float):
        return wire.integer(1, _FLOAT64) + wire.double(6, value)
    if isinstance(value, (list, tuple)):
        return wire.integer(1, _LIST) + b"".join(wire.data(18, _value(each)) for each in value)
    return wire.integer(1, _STRING) + wire.text(7, str(value))


def decode(content: bytes) -> Graph:
    """The graph in such a message, of ours or of MindSpore.

    Raises:
        google.protobuf.message.DecodeError: it is not such a message.
    """
    found = message("mindspore.irpb.GraphProto").FromString(content)
    names = {each.name: each.path or each.name for each in found.parameters}
    names.update((each.name, _path(each)) for each in found.node)
    names.update((each.key, each.full_name or each.key) for each in found.const_vals)
    parameters = [Node(names[each.name], Node.PARAMETER, outputs=_outputs(each, "type")) for each in found.parameters]
    constants = [Node(names[each.key], Node.CONSTANT, attributes={"value": _python(each.value)}) for each in found.const_vals]
    return Graph((*parameters, *constants, *(_decoded(each, names) for each in found.node)), found.name)


def of_file(content: bytes) -> Graph:
    """The graph in a ``ModelProto``, serialised: what MindSpore's networks give, and files ``*.pb`` hold.

    Raises:
        google.protobuf.message.DecodeError: it is no such message.
    """
    return decode(message("mindspore.irpb.ModelProto").FromString(content).graph.SerializeToString())


def _path(found: Any) -> str:
    return str(found.path or found.full_name or f"{found.scope}/{found.op_type}-op{found.name}".lstrip("/"))


def _decoded(found: Any, names: Mapping[str, str]) -> Node:
    inputs = tuple(names.get(each.name, each.name) for each in found.input)
    attributes = {each.name: _python(each.value) for each in found.attribute}
    return Node(_path(found), found.op_type, inputs, attributes, _outputs(found, "output_type"))


def _outputs(found: Any, field: str) -> tuple[TensorType, ...]:
    if not found.HasField(field):
        return ()
    told = getattr(found, field)
    elements = told.sequence_type.elem_types if told.HasField("sequence_type") else [told]
    return tuple(_tensor_type(each.tensor_type) for each in elements)


def _tensor_type(found: Any) -> TensorType:
    shape = tuple(dim.size for dim in found.shape.dim) if found.HasField("shape") else None
    return TensorType(DTYPES.get(found.elem_type, ""), shape)


def _python(found: Any) -> Any:
    """A value as Python has it: its own text where it is of another sort."""
    if found.HasField("tensor_val"):
        return f"{DTYPES.get(found.tensor_val.data_type, 'tensor')} {list(found.tensor_val.dims)}"
    single = next((getattr(found, name) for name in _SINGLE if found.HasField(name)), None)
    if single is not None:
        return single
    many = next((list(getattr(found, name)) for name in _MANY if getattr(found, name)), None)
    return [_python(each) for each in found.values] if many is None else many


_SINGLE = ("bool_val", "int_val", "uint_val", "double_val", "float_val", "str_val")
_MANY = ("bool_vals", "int_vals", "uint_vals", "double_vals", "float_vals", "str_vals")
