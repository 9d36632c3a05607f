"""Records of one point in several formats."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit.formats import FORMATS, framing
from summarykit.formats.chunk import EMPTY
from summarykit.kinds import KINDS
from summarykit.shapes import Blob, Image, Point
from summarykit.writing.records import chunks, joined, lay_out

LAYOUTS = [FORMATS.get(name)() for name in ("mindspore", "tensorboard")]


def image(size, step=1):
    return Point("image", "input", step, 1.5, Image(2, 3, 3, bytes(range(256)) * (size // 256)))


def histogram():
    kind = KINDS.get("histogram")
    return Point("histogram", "weight", 1, 1.5, kind.reduce(kind.snapshot(np.arange(9.0))))


@pytest.mark.parametrize("point", [image(256), image(2**20), histogram()], ids=["small image", "large image", "histogram"])
def test_each_format_has_the_record_that_it_would_have_alone(point):
    found = [b"".join(record) for record in lay_out(point, LAYOUTS)]
    assert found == [framing.frame(*layout.payload(point)) for layout in LAYOUTS]


def test_an_image_is_framed_and_joined_once_for_both_formats():
    records = lay_out(image(2**20), LAYOUTS)
    assert records[0] is records[1]
    first, second = joined(records)
    assert first is second
    assert first == [b"".join(records[0])]
    written = chunks([records, records])
    assert written[0] is written[1]


def test_what_differs_between_formats_is_framed_for_each():
    mindspore, tensorboard = lay_out(histogram(), LAYOUTS)
    assert b"".join(mindspore) != b"".join(tensorboard)


def test_several_points_are_one_chunk_of_each_format():
    points = [image(256, step) for step in range(3)] + [histogram()]
    rows = [lay_out(point, LAYOUTS) for point in points]
    for chunk, layout in zip(chunks(rows), LAYOUTS, strict=True):
        expected = [framing.frame(*layout.payload(point)) for point in points]
        assert b"".join(chunk.data) == b"".join(expected)
        assert chunk.ends.tolist() == np.cumsum(list(map(len, expected))).tolist()


def test_a_format_without_a_place_for_it_has_no_record():
    point = Point("notes", "a", 1, 1.5, Blob("notes", b"x"))    # no viewer shows it: it goes into the first format alone
    records = lay_out(point, LAYOUTS)
    assert records[1] is None
    assert joined(records)[1] is None
    assert chunks([records])[1] is EMPTY
