"""Loss landscapes as MindSpore's ``LossLandscape``, and back.

MindInsight takes a landscape with steps in its path for one of an interval of the training, one without for that of its result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from summarykit.formats import wire
from summarykit.formats.mindspore.tensors import decode as tensor_of
from summarykit.formats.mindspore.tensors import tensor
from summarykit.formats.proto.messages import message
from summarykit.shapes import Array, Blob, Floats, LossLandscape, LossPath, Shape, Tensor

KIND = "landscape"
EXPLAINED, METRICS, NOTES = 1000, 1001, 1002


def encode(shape: LossLandscape) -> bytes:
    """The message, serialised."""
    parts = [wire.data(1, _point(shape.x, shape.y, shape.z))]
    if shape.path is not None:
        path = shape.path
        steps = b"".join(wire.integer(1, step) for step in path.steps.tolist())
        parts.append(wire.data(2, steps + wire.data(2, _point(path.x, path.y, path.z))))
    told = wire.text(1, shape.decomposition) + wire.text(2, shape.unit) + wire.integer(3, shape.step_per_epoch)
    parts.append(wire.data(3, told))
    if shape.convergence is not None:
        parts.append(wire.data(4, _point(*(np.array([number]) for number in shape.convergence))))
    return b"".join([*parts, *_ours(shape)])


def _ours(shape: LossLandscape) -> list[bytes]:
    """What MindSpore's message has no place for."""
    shares = [wire.double(EXPLAINED, share) for share in shape.explained_variance]
    metrics = [wire.data(METRICS, wire.text(1, name) + wire.data(2, _tensor(grid))) for name, grid in shape.metrics.items()]
    return [*shares, *metrics, *([wire.text(NOTES, json.dumps(dict(shape.notes)))] if shape.notes else [])]


def _point(x: Array, y: Array, z: Array) -> bytes:
    return b"".join(wire.data(field, _tensor(axis)) for field, axis in enumerate((x, y, z), 1))


def _tensor(axis: Array) -> bytes:
    data = np.ascontiguousarray(axis, "<f8")
    return b"".join(map(bytes, tensor(Tensor(data, "float64"))))


def as_blob(shape: LossLandscape) -> Blob:
    """The same for a format whose viewer has no place for it."""
    return Blob(KIND, encode(shape))


def of_blob(found: Shape) -> Shape:
    """What such a blob holds; anything else as it is.

    Raises:
        google.protobuf.message.DecodeError: it is not such a message.
    """
    if not isinstance(found, Blob) or found.plugin != KIND:
        return found
    return decode(message("mindspore.irpb.LossLandscape").FromString(found.content))


def decode(found: Any) -> LossLandscape:
    """The landscape in such a message, of ours or of MindSpore.

    Raises:
        ValueError: the grid does not fit its axes.
    """
    x, y, z = _axes(found.landscape)
    if z.shape != (len(y), len(x)):
        raise ValueError(f"a grid of {z.shape} over {len(y)} rows and {len(x)} columns")
    told = found.metadata
    return LossLandscape(
        x, y, z, _path(found.loss_path), _convergence(found), told.decomposition, told.unit, told.step_per_epoch,
        tuple(found.explained_variance), {each.name: _array(each.z) for each in found.metrics}, _notes(found.notes),
    )  # fmt: skip


def _path(found: Any) -> LossPath | None:
    return LossPath(np.array(found.intervals, np.int64), *_axes(found.points)) if found.intervals else None


def _convergence(found: Any) -> tuple[float, float, float] | None:
    axes = _axes(found.convergence_point)
    if not all(axis.size for axis in axes):
        return None
    x, y, z = (float(axis.reshape(-1)[0]) for axis in axes)
    return x, y, z


def _axes(point: Any) -> tuple[Floats, Floats, Floats]:
    return _array(point.x), _array(point.y), _array(point.z)


def _array(found: Any) -> Floats:
    """In float64; MindSpore puts float32 numbers under the label of another dtype."""
    return np.asarray(tensor_of(found).data, np.float64)


def _notes(text: str) -> Mapping[str, Any]:
    """How it was made; a text that says nothing legible says nothing."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
