"""Meshes: the three parts, and what TensorBoard's page must know of each."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from summarykit.errors import RefusedValueError
from summarykit.formats import wire
from summarykit.kinds.mesh import MESH

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
FACES = np.array([[0, 1, 2], [0, 2, 3]])
COLORS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [1, 2, 3]])


def parts(value, **options):
    group = MESH.reduce(MESH.snapshot(value, **options))
    assert group.tag_field == 2
    return dict(group.parts)


def about(part):
    """Content type, components, shape and scene of a part."""
    told = wire.fields(part.metadata)
    single = dict(told)
    return single[3], single[7], [size for field, size in told if field == 6], json.loads(single[5])


def test_a_whole_mesh():
    found = parts(CORNERS, colors=COLORS, faces=FACES, config={"camera": {"fov": 75}})
    assert {ending: (part.plugin, part.data.dtype.str) for ending, part in found.items()} == {
        "_VERTEX": ("mesh", "<f4"), "_FACE": ("mesh", "<i4"), "_COLOR": ("mesh", "|u1"),
    }  # fmt: skip
    assert about(found["_VERTEX"]) == (1, 0b1110, [1, 4, 3], {"camera": {"fov": 75}})
    assert about(found["_FACE"]) == (2, 0b1110, [1, 2, 3], {"camera": {"fov": 75}})
    assert about(found["_COLOR"]) == (3, 0b1110, [1, 4, 3], {"camera": {"fov": 75}})
    assert np.array_equal(found["_VERTEX"].data[0], CORNERS)
    assert np.array_equal(found["_FACE"].data[0], FACES)
    assert np.array_equal(found["_COLOR"].data[0], COLORS)


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 3), st.integers(1, 5), st.just(3)), elements=st.floats(width=32)))
def test_points_alone_stay(points):
    found = parts(points)
    assert list(found) == ["_VERTEX"]
    assert about(found["_VERTEX"]) == (1, 0b10, list(points.shape), {})
    np.testing.assert_array_equal(found["_VERTEX"].data, points)


def test_colours_of_0_to_1_are_brightness():
    assert parts(CORNERS, colors=np.full((4, 3), 0.5))["_COLOR"].data[0, 0].tolist() == [128, 128, 128]
    assert parts(CORNERS, colors=np.full((4, 3), 65535, np.uint16))["_COLOR"].data[0, 0].tolist() == [255, 255, 255]


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (CORNERS[:, :2], {}),
        (CORNERS[:0], {}),
        (None, {}),
        (CORNERS, {"colors": COLORS[:3]}),
        (CORNERS[None], {"faces": FACES}),
        (CORNERS, {"faces": FACES + 2}),
        (CORNERS, {"faces": FACES - 1}),
        (CORNERS, {"config": {"a": object()}}),
        (CORNERS, {"config": 5}),
    ],
)
def test_what_does_not_fit_is_refused(value, options):
    with pytest.raises(RefusedValueError, match="mesh"):
        parts(value, **options)
