"""ONNX models, in files or in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.kinds.graphs.source import Names, short
from summarykit.lazy import optional
from summarykit.shapes import Graph, Node, TensorType


class OnnxSource:
    """The path of an ``.onnx`` file, or an ``onnx.ModelProto``."""

    def owns(self, value: Any) -> bool:
        """Tell whether it is a path or such a model."""
        return isinstance(value, (str, os.PathLike)) or type(value).__name__ == "ModelProto"

    def graph(self, value: Any, example_input: Any) -> Graph:
        """Give the graph, with shapes as far as ONNX can infer them.

        Raises:
            RefusedValueError: no such file, or no such model.
            MissingExtraError: onnx is not installed.
        """
        onnx = optional("onnx", extra="onnx", purpose="graphs of ONNX models")
        model = value if type(value).__name__ == "ModelProto" else _load(onnx, value)
        with suppress(RuntimeError, ValueError):    # a model that it cannot infer: the graph is shown without shapes
            model = optional("onnx.shape_inference", extra="onnx", purpose="shapes of ONNX models").infer_shapes(model)
        return _Reading(onnx, model.graph).graph()


def _load(onnx: Any, path: Any) -> Any:
    try:
        return onnx.load(os.fspath(path), load_external_data=False)
    except Exception as error:
        raise RefusedValueError(f"graph: {os.fspath(path)!r} is no ONNX model that can be read: {type(error).__name__}: {error}") from error


class _Reading:
    """One graph, and who gives which of its values."""

    def __init__(self, onnx: Any, graph: Any) -> None:
        self._onnx = onnx
        self._graph = graph
        self._names = Names()
        self._givers: dict[str, str] = {}
        self._types = {each.name: self._type(each.type) for each in (*graph.value_info, *graph.input, *graph.output)}

    def graph(self) -> Graph:
        """All of it: parameters, inputs, operations and outputs."""
        parameters = list(self._parameters())
        nodes = [*parameters, *self._inputs(), *map(self._node, self._graph.node), *map(self._output, self._graph.output)]
        return Graph(tuple(nodes), self._graph.name)

    def _parameters(self) -> Iterator[Node]:
        for each in self._graph.initializer:
            held = TensorType(self._dtype(each.data_type), tuple(each.dims))
            yield Node(self._give(each.name), Node.PARAMETER, outputs=(held,))

    def _inputs(self) -> Iterator[Node]:
        for each in self._graph.input:
            if each.name not in self._givers:
                yield Node(self._give(each.name), Node.INPUT, outputs=(self._types[each.name],))

    def _node(self, found: Any) -> Node:
        inputs = tuple(self._givers[name] for name in found.input if name in self._givers)
        name = self._names.new(found.name.strip("/") or found.op_type)
        self._givers.update((output, name) for output in found.output)
        outputs = tuple(self._types.get(output, TensorType()) for output in found.output)
        attributes = {each.name: _plain(self._onnx.helper.get_attribute_value(each)) for each in found.attribute}
        return Node(name, found.op_type, inputs, attributes, outputs)

    def _output(self, found: Any) -> Node:
        sources = tuple(self._givers[name] for name in [found.name] if name in self._givers)
        return Node(self._names.new(found.name.strip("/")), Node.OUTPUT, sources, {}, (self._types[found.name],))

    def _give(self, value: str) -> str:
        self._givers[value] = self._names.new(value.strip("/"))
        return self._givers[value]

    def _type(self, found: Any) -> TensorType:
        tensor = found.tensor_type
        shape = tuple(dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim) if tensor.HasField("shape") else None
        return TensorType(self._dtype(tensor.elem_type), shape)

    def _dtype(self, number: int) -> str:
        name = str(self._onnx.TensorProto.DataType.Name(number)).lower()
        return {"float": "float32", "double": "float64", "undefined": ""}.get(name, name)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return short(value.decode("utf-8", "replace"))
    if isinstance(value, (int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(each, (int, float)) for each in value):
        return list(value)
    return short(value)


ONNX = OnnxSource()
