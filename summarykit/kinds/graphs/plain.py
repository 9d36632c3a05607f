"""A graph that is given as a mapping, or as the shape itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.shapes import Graph, Node, TensorType

_KEYS = {"op", "inputs", "attributes", "shape", "dtype"}


class PlainSource:
    """A mapping: name of a node -> ``{"op": "Conv2d", "inputs": ["x"], "attributes": {"stride": 2}, "shape": [8, 3], "dtype": "float32"}``.

    Everything but ``op`` may be left out; scopes in names are separated by ``/``.
    """

    def owns(self, value: Any) -> bool:
        """Tell whether it is a mapping or a `Graph`."""
        return isinstance(value, (Mapping, Graph))

    def graph(self, value: Any, example_input: Any) -> Graph:
        """Give the graph.

        Raises:
            RefusedValueError: a node that is none, or inputs that are not there.
        """
        graph = value if isinstance(value, Graph) else Graph(tuple(_node(name, told) for name, told in value.items()))
        _check_inputs(graph.nodes)
        return graph


def _node(name: Any, told: Any) -> Node:
    if not isinstance(name, str) or not name or not isinstance(told, Mapping) or not isinstance(told.get("op"), str):
        raise RefusedValueError(f"graph: node {name!r} must be a name and a mapping with 'op', got {told!r:.100}")
    if not _KEYS.issuperset(told):
        raise RefusedValueError(f"graph: node {name!r} has unknown keys; allowed: {', '.join(sorted(_KEYS))}")
    shape, dtype = told.get("shape"), str(told.get("dtype", ""))
    outputs = (TensorType(dtype, None if shape is None else tuple(map(int, shape))),) if shape is not None or dtype else ()
    return Node(name, told["op"], tuple(told.get("inputs", ())), dict(told.get("attributes", {})), outputs)


def _check_inputs(nodes: Iterable[Node]) -> None:
    known = [node.name for node in nodes]
    names = set(known)
    if len(names) < len(known):
        raise RefusedValueError("graph: two nodes have one name")
    for node in nodes:
        missing = [source for source in node.inputs if source not in names]
        if missing:
            raise RefusedValueError(f"graph: node {node.name!r} takes from {missing[0]!r}, which is no node")


PLAIN = PlainSource()
