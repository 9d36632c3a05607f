"""Networks of MindSpore: the graph that was compiled, where it was; else the tree of their cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.formats.mindspore.graph import of_file
from summarykit.lazy import loaded
from summarykit.notices import Notices
from summarykit.shapes import Graph, Node, TensorType

NOTICES = Notices()


class MindSporeSource:
    """A ``mindspore.nn.Cell`` that has run in graph mode, or the bytes that its ``get_func_graph_proto()`` gives."""

    def owns(self, value: Any) -> bool:
        """Tell whether it is one of the two."""
        return isinstance(value, bytes) or _is_cell(value)

    def graph(self, value: Any, example_input: Any) -> Graph:
        """Give the graph; where nothing was compiled the cells alone, with one warning.

        Raises:
            RefusedValueError: these bytes are no graph.
        """
        content = value if isinstance(value, bytes) else value.get_func_graph_proto()
        if content:
            return _decoded(content)
        name = type(value).__name__
        why = "it has no compiled graph (PyNative mode, or it did not run yet)"
        NOTICES.once(("cells", name), "%s: %s; its cells are shown without what flows between them", name, why)
        return Graph(tuple(_cells(value)), name)


def _is_cell(value: Any) -> bool:
    return isinstance(value, loaded("mindspore.nn", "Cell"))


def _decoded(content: bytes) -> Graph:
    from google.protobuf.message import DecodeError

    try:
        return of_file(content)
    except DecodeError as error:
        raise RefusedValueError(f"graph: these {len(content)} bytes are no serialised ModelProto of MindSpore: {error}") from error


def _cells(network: Any) -> Iterator[Node]:
    """The cells that hold no others, with their parameters."""
    for path, cell in network.cells_and_names():
        if not list(cell.cells()):
            scope = path.replace(".", "/")
            held = [_parameter(f"{scope}/{name}".lstrip("/"), value) for name, value in cell.parameters_and_names(expand=False)]
            yield from held
            name = f"{scope}/{type(cell).__name__}".lstrip("/")
            yield Node(name, type(cell).__name__, tuple(each.name for each in held), _settings(cell))


def _parameter(name: str, value: Any) -> Node:
    return Node(name, Node.PARAMETER, outputs=(TensorType(str(value.dtype).lower(), tuple(value.shape)),))


def _settings(cell: Any) -> dict[str, Any]:
    text = cell.extend_repr()
    return {"settings": text} if text else {}


MINDSPORE = MindSporeSource()
