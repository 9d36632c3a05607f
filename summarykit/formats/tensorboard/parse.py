"""TensorBoard's ``Event`` messages as points, through protobuf: the general path, for everything but columns of scalars."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.formats import blobs
from summarykit.formats.dialect import Dialect
from summarykit.formats.mindspore import landscape
from summarykit.formats.proto.messages import message
from summarykit.formats.tensorboard import graph, plugins
from summarykit.shapes import Array, Blob, Floats, Histogram, Image, Point, Scalar, Shape

__all__ = ["DIALECT", "Plugins", "parse", "shape"]

Plugins = dict[str, tuple[str, bytes]]
"""Tag -> name and content of its plugin, as the first value of the tag told them: they hold for values that tell none."""


def parse(payload: bytes, told: Plugins | None = None) -> list[Point]:
    """The points of one record's payload.

    Args:
        payload: the record.
        told: what earlier records of the same run said of their tags; this one's are added.

    Raises:
        google.protobuf.message.DecodeError: it is not such a message.
    """
    known: Plugins = {} if told is None else told
    event = message(DIALECT.event).FromString(payload)
    return [_point(event, value, known) for value in event.summary.value] + _whole(event)


def _point(event: Any, value: Any, known: Plugins) -> Point:
    told = value.metadata.plugin_data
    if told.plugin_name:
        known.setdefault(value.tag, (told.plugin_name, told.content))
    plugin, metadata = known.get(value.tag, ("", b""))
    kind, found = kind_of(value, told.plugin_name or plugin), shape(value, plugin, metadata)
    return Point("tensor" if kind == "scalar" and not isinstance(found, Scalar) else kind, value.tag, event.step, event.wall_time, found)


def kind_of(value: Any, plugin: str) -> str:
    """The kind of a ``Summary.Value``: what its field says, for a tensor (or nothing) what its plugin says."""
    which = value.WhichOneof("value")
    own = {"simple_value": "scalar", "image": "image", "histo": "histogram", "audio": "audio"}.get(which)
    return own or DIALECT.kind(value.blob.plugin if value.HasField("blob") else plugin)


def _whole(event: Any) -> list[Point]:
    what = event.WhichOneof("what")
    kind, content = {
        "graph_def": ("graph", event.graph_def),
        "meta_graph_def": ("meta_graph", event.meta_graph_def),
        "tagged_run_metadata": ("run_metadata", event.tagged_run_metadata.SerializeToString()),
    }.get(what, ("", b""))
    return [Point(kind, event.tag or kind, event.step, event.wall_time, whole(kind, event.tag, content))] if kind else []


def whole(kind: str, tag: str, content: bytes) -> Shape:
    """The shape of an event that is one thing as a whole: of a graph that is no such message, the bytes that are there."""
    from google.protobuf.message import DecodeError

    try:
        return graph.decode(content) if kind == "graph" else Blob(kind, content)
    except DecodeError:
        return Blob(kind, content)


def shape(value: Any, plugin: str = "", metadata: bytes = b"") -> Shape:
    """The shape in a ``Summary.Value``.

    Args:
        value: the message.
        plugin: name of the plugin of its tag, for a value that names none itself.
        metadata: that plugin's own description of the tag.
    """
    which, told = value.WhichOneof("value"), value.metadata.plugin_data
    if told.plugin_name:
        plugin, metadata = told.plugin_name, told.content
    if which == "simple_value":
        return Scalar(value.exact_value if value.HasField("exact_value") else value.simple_value)
    if which == "image":
        found = value.image
        return Image(found.height, found.width, found.colorspace, found.encoded_image_string)
    if which == "histo":
        return histogram(value.histo, value.non_finite)
    if which == "audio":
        return plugins.of_audio(value)
    if which == "obsolete_old_style_histogram":
        return Blob(plugin or "tensor", value.obsolete_old_style_histogram, metadata)
    found = landscape.of_blob(blobs.decode(value.blob)) if value.HasField("blob") else plugins.of_tensor(value, plugin, metadata)
    return graph.of_plugin(found)


def histogram(found: Any, non_finite: Any) -> Histogram:
    """A ``HistogramProto``: with ``non_finite`` it is one of ours, exact; else outer edges are the smallest and the largest value."""
    counts = np.rint(np.nan_to_num(np.array(found.bucket, np.float64))).astype(np.int64)
    limits = np.array(found.bucket_limit, np.float64)[: len(counts)]
    counts = counts[: len(limits)]
    if non_finite.HasField("first_edge"):
        edges = np.concatenate([[non_finite.first_edge], limits])
    else:
        edges, counts = _trim(limits, counts, found.min, found.max)
    return Histogram(
        edges=edges if len(counts) else np.empty(0, np.float64), counts=counts,
        nan=non_finite.nan, pos_inf=non_finite.pos_inf, neg_inf=non_finite.neg_inf,
        min=found.min, max=found.max, sum=found.sum, sum_squares=found.sum_squares,
    )  # fmt: skip


def _trim(limits: Floats, counts: Array, smallest: float, largest: float) -> tuple[Floats, Array]:
    """As TensorBoard does: drop empty outer buckets, end at the smallest and the largest value."""
    filled = np.flatnonzero(counts)
    if not len(filled):
        return np.empty(0, np.float64), np.empty(0, np.int64)
    first, last = int(filled[0]), int(filled[-1])
    inner = limits[first:last]
    edges = np.concatenate([[smallest], np.clip(inner, smallest, largest) if smallest <= largest else inner, [largest]])
    return edges, counts[first : last + 1]


DIALECT = Dialect(
    event="tensorboard.Event",
    value="tensorboard.Summary.Value",
    shape=shape,
    scalar=2,
    values={2: "scalar", 4: "image", 5: "histogram", 6: "audio", 8: "tensor"},
    events={4: ("graph", "graph"), 8: ("run_metadata", "run_metadata"), 9: ("meta_graph", "meta_graph")},
    whole=whole,
    tensor=8,
    metadata=9,
    session_log=7,
    blob=blobs.FIELD,
)
"""Files that TensorBoard reads."""
