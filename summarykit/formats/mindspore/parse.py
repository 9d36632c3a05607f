"""MindSpore's ``Event`` messages as points, through protobuf: the general path, for everything but columns of scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from summarykit.formats import blobs
from summarykit.formats.dialect import Dialect
from summarykit.formats.mindspore import graph, landscape, lineage
from summarykit.formats.mindspore.tensors import decode as tensor
from summarykit.formats.proto.messages import message
from summarykit.shapes import Array, Blob, Histogram, Image, Point, Scalar, Shape

__all__ = ["DIALECT", "LINEAGE", "parse", "shape", "tensor"]


def parse(payload: bytes) -> list[Point]:
    """The points of one record's payload.

    Raises:
        google.protobuf.message.DecodeError: it is not such a message.
    """
    event = message(DIALECT.event).FromString(payload)
    points = [Point(kind_of(value), value.tag, event.step, event.wall_time, shape(value)) for value in event.summary.value]
    return points + _whole(event, {"graph_def": "graph", "explain": "explain"})


def parse_lineage(payload: bytes) -> list[Point]:
    """The same for a record of a lineage file."""
    event = message(LINEAGE.event).FromString(payload)
    parts = [(tag, _serialized(getattr(event, tag))) for _, tag in LINEAGE.events.values() if event.HasField(tag)]
    return [Point("lineage", tag, event.step, event.wall_time, piece("lineage", tag, content)) for tag, content in parts]


def _serialized(found: Any) -> bytes:
    content: bytes = found.encode() if isinstance(found, str) else found.SerializeToString()
    return content


def _whole(event: Any, kinds: dict[str, str]) -> list[Point]:
    """An event that is one thing as a whole: a graph, an explanation."""
    what = event.WhichOneof("what")
    if what not in kinds:
        return []
    kind, content = kinds[what], getattr(event, what).SerializeToString()
    return [Point(kind, event.tag or kind, event.step, event.wall_time, whole(kind, event.tag, content))]


def whole(kind: str, tag: str, content: bytes) -> Shape:
    """The shape of an event that is one thing as a whole: of a graph that is no such message, the bytes that are there."""
    from google.protobuf.message import DecodeError

    try:
        return graph.decode(content) if kind == "graph" else Blob(kind, content)
    except DecodeError:
        return Blob(kind, content)


def piece(kind: str, part: str, content: bytes) -> Shape:
    """A part of a lineage; of what is no such message, the bytes that are there."""
    from google.protobuf.message import DecodeError

    try:
        return lineage.decode(part, content)
    except DecodeError:
        return Blob(part, content)


def kind_of(value: Any) -> str:
    """The kind of a ``Summary.Value``: the name of its plugin where that is a blob of ours."""
    if value.HasField("blob"):
        return DIALECT.kind(value.blob.plugin)
    which = value.WhichOneof("value") or "scalar"
    return {"scalar_value": "scalar", "loss_landscape": "landscape"}.get(which, which)


def shape(value: Any, plugin: str = "", metadata: bytes = b"") -> Shape:
    """The shape in a ``Summary.Value``; ``plugin`` and ``metadata`` matter to the other format only."""
    which = value.WhichOneof("value")
    if value.HasField("blob"):
        return graph.of_blob(landscape.of_blob(blobs.decode(value.blob)))
    if which == "image":
        found = value.image
        return Image(found.height, found.width, found.colorspace, found.encoded_image)
    if which == "histogram":
        return histogram(value.histogram, value.sum_squares)
    if which == "tensor":
        return tensor(value.tensor, value.dtype)
    if which == "loss_landscape":
        return landscape.decode(value.loss_landscape)
    return Scalar(value.exact_value if value.HasField("exact_value") else value.scalar_value)


def histogram(found: Any, sum_squares: float) -> Histogram:
    """A ``Summary.Histogram``: its buckets by ascending left edge."""
    odd = {"nan": found.nan_count, "pos_inf": found.pos_inf_count, "neg_inf": found.neg_inf_count}
    if found.edges:
        edges, counts = np.array(found.edges, np.float64), np.array(found.counts, np.int64)
        return Histogram(edges, counts, **odd, min=found.smallest, max=found.largest, sum=found.sum, sum_squares=sum_squares)
    rows = np.array([(bucket.left, bucket.left + bucket.width, bucket.count) for bucket in found.buckets], np.float64).reshape(-1, 3)
    order = np.argsort(rows[:, 0], kind="stable")
    counts = np.array([bucket.count for bucket in found.buckets], np.int64)[order]
    edges = _edges(rows[order], found.max)
    return Histogram(edges, counts, **odd, min=found.min, max=found.max, sum=found.sum, sum_squares=sum_squares)


def _edges(rows: Array, largest: float) -> Array:
    """Left edges and the last right one, which is the largest value where left + width missed that by rounding."""
    if not len(rows):
        return np.empty(0, np.float64)
    left, last = rows[-1, :2].tolist()
    if not math.isfinite(last) or abs(last - largest) <= 4 * math.ulp(max(abs(largest), abs(left))):
        last = largest
    return np.append(rows[:, 0], last)


DIALECT = Dialect(
    event="mindspore.irpb.Event",
    value="mindspore.irpb.Summary.Value",
    shape=shape,
    scalar=3,
    values={3: "scalar", 4: "image", 8: "tensor", 9: "histogram", 10: "landscape"},
    events={4: ("graph", "graph"), 6: ("explain", "explain")},
    whole=whole,
    blob=blobs.FIELD,
)
"""Files that MindInsight reads."""

LINEAGE = Dialect(
    event="mindspore.irpb.LineageEvent",
    value="mindspore.irpb.Summary.Value",
    shape=shape,
    scalar=0,
    values={},
    events={number: ("lineage", part) for number, part in lineage.EVENTS.items()},
    whole=piece,
)
"""Its files whose names end in ``_lineage``."""
