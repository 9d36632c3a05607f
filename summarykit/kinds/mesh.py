"""Mesh: points in space, with colours, and the triangles between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.formats import wire
from summarykit.kinds.arrays import Frozen, freeze
from summarykit.kinds.kind import no_options
from summarykit.kinds.pixels import to_pixels
from summarykit.shapes import Array, Group, Plugin

# TensorBoard's numbers of the parts; each is a tag of its own.
_CONTENTS = {"VERTEX": 1, "FACE": 2, "COLOR": 3}
_NAME = 2    # field of its metadata with the name of the whole mesh
_DTYPES = {"VERTEX": "<f4", "FACE": "<i4", "COLOR": "u1"}


@dataclass(frozen=True, eq=False)
class Solid:
    """Frozen parts of a batch of meshes, by TensorBoard's names."""

    parts: Mapping[str, Frozen]
    config: str

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return sum(part.nbytes for part in self.parts.values())


class MeshKind:
    """A point cloud or a triangle mesh, or a batch of them (TensorBoard's page shows the first).

    It takes the place of three tags: ``<tag>_VERTEX`` and, where they are given, ``<tag>_COLOR`` and ``<tag>_FACE``.
    """

    name = "mesh"

    def snapshot(
        self, value: Any, *, colors: Any = None, faces: Any = None, config: Mapping[str, Any] | None = None, **options: Any
    ) -> Solid:
        """Copy the arrays once, or keep them on their device.

        Args:
            value: coordinates of the points, shape ``[points, 3]`` or ``[meshes, points, 3]``.
            colors: of the points, the same shape; brightness as in `ImageKind` (floats 0 to 1, integers 0 to 255).
            faces: numbers of three points a triangle, shape ``[triangles, 3]`` or ``[meshes, triangles, 3]``.
            config: classes and arguments of three.js for the scene: ``{"camera": {"cls": "PerspectiveCamera", "fov": 75}}``.
            **options: none other.

        Raises:
            RefusedValueError: another shape, or a ``config`` that JSON cannot say.
        """
        no_options(self.name, options)
        given = {"VERTEX": value, "FACE": faces, "COLOR": colors}
        parts = {name: freeze(part) for name, part in given.items() if part is not None}
        if value is None:
            raise RefusedValueError("mesh takes an array of points; got None")
        for name, part in parts.items():
            _check_shape(name, part.shape, parts["VERTEX"].shape)
        return Solid(parts, _as_json(config))

    def reduce(self, snapshot: Solid) -> Group:
        """Bring each part into its own dtype.

        Raises:
            RefusedValueError: a triangle of points that are not there, or a device value that could not be fetched.
        """
        arrays = {name: _converted(name, part.get().data) for name, part in snapshot.parts.items()}
        if "FACE" in arrays:
            _check_faces(arrays["FACE"], arrays["VERTEX"].shape[1])
        present = sum(1 << _CONTENTS[name] for name in arrays)
        parts = ((f"_{name}", _plugin(name, array, present, snapshot.config)) for name, array in arrays.items())
        return Group(tuple(parts), tag_field=_NAME)


def _check_shape(name: str, shape: tuple[int, ...], vertices: tuple[int, ...]) -> None:
    if len(shape) not in (2, 3) or shape[-1] != 3 or 0 in shape:
        raise RefusedValueError(f"mesh: {name.lower()} must be of shape [n, 3] or [meshes, n, 3], got {shape}")
    if (shape != vertices) if name == "COLOR" else (shape[:-2] != vertices[:-2]):
        raise RefusedValueError(f"mesh: {name.lower()} of shape {shape} does not fit points of shape {vertices}")


def _as_json(config: Mapping[str, Any] | None) -> str:
    try:
        return json.dumps(dict(config or {}), sort_keys=True)
    except (TypeError, ValueError) as error:
        raise RefusedValueError(f"mesh: config must be a mapping that JSON can say: {error}") from error


def _converted(name: str, array: Array) -> Array:
    batch = array.reshape(-1, *array.shape[-2:])
    if name == "COLOR":
        batch = to_pixels(batch)
        return (batch >> 8).astype(np.uint8) if batch.dtype == np.uint16 else np.ascontiguousarray(batch)
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(batch, _DTYPES[name])


def _check_faces(faces: Array, points: int) -> None:
    if faces.min() < 0 or faces.max() >= points:
        raise RefusedValueError(f"mesh: faces name points {faces.min()} to {faces.max()}, but there are {points} (the first is 0)")


def _plugin(name: str, array: Array, present: int, config: str) -> Plugin:
    """A part with TensorBoard's ``MeshPluginData``, but for the mesh's name."""
    shape = b"".join(wire.integer(6, size) for size in array.shape)
    return Plugin("mesh", array, wire.integer(3, _CONTENTS[name]) + wire.text(5, config) + shape + wire.integer(7, present))


MESH = MeshKind()
