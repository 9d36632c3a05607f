"""``memory_usage_<device>.pb``: where a graph's tensors live in the device's memory, and from which node to which.

MemoryProto {1 GraphMemProto, 2 total_mem}; GraphMemProto {1 graph_id, 2 static_mem, 3 nodes, 4 tensors, 5 fp_start, 6 bp_end};
node {1 name, 2 id, 3 inputs, 4 outputs, 5 workspaces}; tensor {1 id, 2 size, 3 type, 4 life_start, 5 life_end, 6 life_long}.
No capture of it is public.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from summarykit.formats import wire
from summarykit.profiler.parsers.ascend.files import pieces
from summarykit.profiler.parsers.rows import objects
from summarykit.profiler.recording import Table
from summarykit.shapes import Ints

_TENSOR_NUMBERS = {"id": 1, "size": 2, "life_start": 4, "life_end": 5, "life_long": 6}
LIFE_LONG = ("LifeLongNone", "LifeLongGraphAll", "LifeLongGraphStart", "LifeLongGraphEnd")
_GRAPH_ALL, _GRAPH_START, _GRAPH_END = 1, 2, 3


@dataclass(frozen=True, eq=False)
class GraphMemory:
    """The memory of one graph.

    Attributes:
        graph: its number.
        static: bytes that are held all the time beside the tensors.
        nodes: name (object), id (int64): in the order in which they run.
        tensors: id, size (bytes), life_start, life_end (places in ``nodes``), life_long (see ``LIFE_LONG``), all int64; type (object).
        fp_start: the node that begins the forward pass.
        bp_end: the node that ends the backward pass.
    """

    graph: int
    static: int
    nodes: Table
    tensors: Table
    fp_start: str
    bp_end: str

    def used(self) -> Ints:
        """Bytes in use while each node runs: shape ``[nodes]``."""
        count, size = self.nodes["id"].size, self.tensors["size"]
        first = np.where(np.isin(self.tensors["life_long"], (_GRAPH_ALL, _GRAPH_START)), 0, self.tensors["life_start"])
        last = np.where(np.isin(self.tensors["life_long"], (_GRAPH_ALL, _GRAPH_END)), count - 1, self.tensors["life_end"])
        change = np.zeros(count + 1, np.int64)
        np.add.at(change, np.clip(first, 0, count), size)
        np.add.at(change, np.clip(last + 1, 0, count), -size)
        return self.static + np.cumsum(change)[:count]


def read(paths: list[Path], skipped: Counter[str]) -> tuple[list[GraphMemory], int]:
    """The graphs, and the bytes that the device has (0 where the file does not say it)."""
    graphs, total = [], 0
    for number, value in _fields(b"".join(pieces(paths, skipped)), skipped):
        if number == 1 and isinstance(value, bytes):
            graphs.append(_graph(value, skipped))
        elif number == 2 and isinstance(value, int):
            total = value
    return graphs, total


def _fields(content: bytes, skipped: Counter[str]) -> list[tuple[int, int | bytes]]:
    try:
        return wire.fields(content)
    except ValueError:
        skipped["messages of memory_usage that cannot be read"] += 1
        return []


def _graph(content: bytes, skipped: Counter[str]) -> GraphMemory:
    fields = _fields(content, skipped)
    nodes = [_message(value, skipped) for number, value in fields if number == 3]
    tensors = [_message(value, skipped) for number, value in fields if number == 4]
    single = dict(fields)
    columns = {name: _numbers(tensors, place) for name, place in _TENSOR_NUMBERS.items()}
    return GraphMemory(
        _number(single.get(1)), _number(single.get(2)), Table(name=objects([_text(node.get(1)) for node in nodes]), id=_numbers(nodes, 2)),
        Table({**columns, "type": objects([_text(tensor.get(3)) for tensor in tensors])}), _text(single.get(5)), _text(single.get(6)),
    )


def _message(value: int | bytes, skipped: Counter[str]) -> dict[int, int | bytes]:
    return dict(_fields(value, skipped)) if isinstance(value, bytes) else {}


def _numbers(messages: list[dict[int, int | bytes]], field: int) -> Ints:
    return np.array([_number(message.get(field)) for message in messages], np.int64)


def _number(value: int | bytes | None) -> int:
    return wire.signed(value) if isinstance(value, int) else 0


def _text(value: int | bytes | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
