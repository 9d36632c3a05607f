"""What a reader must know of a format to find its way without parsing: field numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from summarykit.shapes import Blob, Shape

# plugin -> kind
_KINDS = {
    "scalars": "scalar", "histograms": "histogram", "images": "image", "pr_curves": "pr_curve", "projector": "embedding",
    "graph_run_metadata_graph": "graph",
}  # fmt: skip


def _blob(kind: str, tag: str, content: bytes) -> Shape:
    return Blob(kind, content)


@dataclass(frozen=True)
class Dialect:
    """Field numbers of one format; the rest is alike: Event {1 wall_time, 2 step, 5 summary {1 value {1 tag, 1000 exact value}}}.

    Attributes:
        event: full name of its outermost message.
        value: full name of its message ``Summary.Value``.
        shape: gives the shape in such a message, told name and content of the plugin of its tag.
        scalar: field of ``Summary.Value`` with the float32 of a scalar.
        values: field of ``Summary.Value`` -> kind of what it holds.
        events: field of ``Event`` -> (kind, tag) of what it holds as a whole.
        whole: gives the shape of such a thing, told its kind, its tag and its content.
        tensor: field of ``Summary.Value`` whose kind the plugin in its metadata decides, or 0.
        metadata: field of ``Summary.Value`` with that metadata, or 0.
        blob: field of ``Summary.Value`` with a blob that names its plugin, or 0.
        session_log: field of ``Event`` that tells of a restart, or 0.
    """

    event: str
    value: str
    shape: Callable[[Any, str, bytes], Shape]
    scalar: int
    values: Mapping[int, str]
    events: Mapping[int, tuple[str, str]]
    whole: Callable[[str, str, bytes], Shape] = _blob
    tensor: int = 0
    metadata: int = 0
    blob: int = 0
    session_log: int = 0

    def kind(self, plugin: str) -> str:
        """The kind that a plugin shows; a tensor without one is a tensor."""
        return _KINDS.get(plugin, plugin) or "tensor"
