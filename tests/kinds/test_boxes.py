"""Boxes on images: every pixel of an outline, and labels where there is a font."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit.heard import Heard

from summarykit.errors import MissingExtraError, RefusedValueError
from summarykit.kinds import drawing
from summarykit.kinds.boxes import IMAGE_WITH_BOXES

pillow = pytest.importorskip("PIL.Image")
RED = [255, 0, 0]


@pytest.fixture(autouse=True)
def notices(monkeypatch):
    """The warnings of one test, untold so far."""
    heard = Heard()
    monkeypatch.setattr(drawing, "NOTICES", heard)
    return heard


def shown(value, **options):
    shape = IMAGE_WITH_BOXES.reduce(IMAGE_WITH_BOXES.snapshot(value, **options))
    picture = np.asarray(pillow.open(io.BytesIO(shape.encoded)))
    assert picture.shape == (shape.height, shape.width, shape.channels)
    return picture


def red(picture):
    return (picture[..., :3] == RED).all(axis=2)


def outlined(height, width, box):
    """Pixel by pixel: within the box, and at most one pixel from its edge."""
    left, top, right, bottom = (round(side) for side in (min(box[::2]), min(box[1::2]), max(box[::2]), max(box[1::2])))
    found = np.zeros((height, width), bool)
    for y, x in np.ndindex(height, width):
        inside = left <= x <= right and top <= y <= bottom
        found[y, x] = inside and min(x - left, right - x, y - top, bottom - y) < 2
    return found


@given(st.lists(st.integers(-5, 25), min_size=4, max_size=4))
def test_an_outline_is_two_pixels_thick_and_cut_at_the_edge(box):
    assert np.array_equal(red(shown(np.zeros((3, 12, 20), np.uint8), boxes=[box])), outlined(12, 20, box))


def test_a_grey_picture_becomes_a_coloured_one():
    picture = shown(np.full((9, 9), 0.5, np.float32), boxes=[[2, 2, 6, 6]])
    assert picture.shape == (9, 9, 3)
    assert picture[0, 0].tolist() == [128, 128, 128]
    assert picture[2, 2].tolist() == RED


def test_alpha_stays():
    assert shown(np.full((9, 9, 4), 7, np.uint8), boxes=[[2, 2, 6, 6]])[2, 2].tolist() == [*RED, 255]


def test_lines_keep_their_width_where_the_picture_is_enlarged():
    picture = shown(np.zeros((3, 10, 10), np.uint8), boxes=[[1, 1, 8, 8]], rescale=3)
    assert picture.shape == (30, 30, 3)
    assert np.array_equal(red(picture), outlined(30, 30, [3, 3, 24, 24]))


def test_a_picture_without_boxes_is_itself():
    value = np.random.default_rng(0).integers(0, 256, (6, 7, 3), np.uint8)
    for boxes in ((), np.zeros((0, 4)), []):
        assert np.array_equal(shown(value, boxes=boxes), value)


def test_labels_are_written_above_the_box():
    plain = shown(np.zeros((3, 60, 80), np.uint8), boxes=[[10, 30, 60, 50]])
    labelled = shown(np.zeros((3, 60, 80), np.uint8), boxes=[[10, 30, 60, 50]], labels=["cat"])
    changed = np.argwhere((plain != labelled).any(axis=2))
    assert labelled.min(axis=2).max() > 100    # whitish
    assert changed[:, 0].max() < 30
    assert changed[:, 1].min() >= 10


def test_without_pillow_boxes_are_drawn_and_one_warning_names_the_extra(monkeypatch, notices):
    def missing(name, **reason):
        raise MissingExtraError("pip install 'summarykit[pillow]'")

    value, boxes = np.zeros((3, 60, 80), np.uint8), [[10, 30, 60, 50]]
    plain = shown(value, boxes=boxes)
    monkeypatch.setattr(drawing, "optional", missing)
    for _ in range(2):
        assert np.array_equal(shown(value, boxes=boxes, labels=["cat"]), plain)
    assert len(notices.texts) == 1
    assert "summarykit[pillow]" in notices.texts[0]


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((3, 9, 9), {"boxes": [[1, 2, 3]]}),
        ((3, 9, 9), {"boxes": [[1, 2, 3, np.nan]]}),
        ((3, 9, 9), {"boxes": [[1, 2, 3, 4]], "labels": ["a", "b"]}),
        ((3, 9, 9), {"boxes": "here"}),
        ((3, 9, 9), {"boxes": [[1, 2, 3, 4]], "labels": 5}),
        ((3, 9, 9), {"rescale": 0}),
        ((2, 3, 9, 9), {"boxes": [[1, 2, 3, 4]]}),
    ],
)
def test_what_does_not_fit_is_refused(shape, options):
    with pytest.raises(RefusedValueError):
        IMAGE_WITH_BOXES.snapshot(np.zeros(shape, np.uint8), **options)
