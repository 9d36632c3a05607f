"""Videos: an animated PNG, read back by Pillow and by hand."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from testkit.heard import Heard

from summarykit.errors import RefusedValueError
from summarykit.kinds import apng, video
from summarykit.kinds.video import VIDEO

FRAMES = st.tuples(st.integers(1, 5), st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 2, 3, 4])).flatmap(
    lambda shape: hnp.arrays(np.uint8, shape)
)


def chunks(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place = 8
    while place < len(data):
        size, name = struct.unpack_from(">I4s", data, place)
        content = data[place + 8 : place + 8 + size]
        assert struct.unpack_from(">I", data, place + 8 + size)[0] == zlib.crc32(name + content)
        yield name, content
        place += 12 + size


def played(data):
    """Frames ``[frames, height, width, channels]`` and seconds a frame."""
    found = list(chunks(data))
    names = [name for name, _ in found]
    assert names[:2] == [b"IHDR", b"acTL"]
    assert names[-1] == b"IEND"
    width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", found[0][1])
    frames, plays = struct.unpack(">II", found[1][1])
    controls = [struct.unpack(">5I2H2B", content) for name, content in found if name == b"fcTL"]
    pixels = [content if name == b"IDAT" else content[4:] for name, content in found if name in (b"IDAT", b"fdAT")]
    numbers = [struct.unpack(">I", content[:4])[0] for name, content in found if name in (b"fcTL", b"fdAT")]
    assert (depth, plays, len(controls), len(pixels)) == (8, 0, frames, frames)
    assert numbers == list(range(len(numbers)))
    assert {control[1:5] for control in controls} == {(width, height, 0, 0)}
    rows = [np.frombuffer(zlib.decompress(each), np.uint8).reshape(height, -1)[:, 1:] for each in pixels]
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[colour]
    whole = [np.cumsum(each, axis=0, dtype=np.uint8).reshape(height, width, channels) for each in rows]
    return np.stack(whole), controls[0][5] / controls[0][6]


@given(FRAMES, st.floats(0.001, 1000))
def test_every_frame_is_read_back(frames, fps):
    found, seconds = played(apng.encode(frames, fps))
    assert np.array_equal(found, frames)
    assert seconds == pytest.approx(1 / fps, rel=0.02)


def test_pillow_plays_it():
    pillow = pytest.importorskip("PIL.Image")
    frames = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), np.uint8)
    picture = pillow.open(io.BytesIO(apng.encode(frames, 4)))
    assert (picture.n_frames, picture.info["duration"]) == (4, 250)
    for place, frame in enumerate(frames):
        picture.seek(place)
        assert np.array_equal(np.asarray(picture), frame)


def shown(value, **options):
    shape = VIDEO.reduce(VIDEO.snapshot(value, **options))
    frames, seconds = played(shape.encoded)
    assert (shape.height, shape.width, shape.channels) == frames.shape[1:]
    return frames, seconds


@pytest.mark.parametrize("layout", [*video.LAYOUTS, "CTHW", "WNHTC"])
def test_layouts_show_the_same_pixels(layout):
    sizes = {"N": 2 if "N" in layout else 1, "T": 3, "H": 5, "W": 6, "C": 3 if "C" in layout else 1}
    clips = np.random.default_rng(1).integers(0, 256, [sizes[axis] for axis in "NTHWC"], np.uint8)
    present = [axis for axis in "NTHWC" if axis in layout]
    value = clips.reshape([sizes[axis] for axis in present]).transpose([present.index(axis) for axis in layout])
    expected = np.concatenate(list(clips), axis=2)
    assert np.array_equal(shown(value, dataformat=layout.lower())[0], expected)


@pytest.mark.parametrize(("shape", "frames"), {(2, 5, 6): (2, 5, 6, 1), (2, 3, 5, 6): (2, 5, 6, 3), (2, 5, 6, 3): (2, 5, 6, 3),
                                               (1, 2, 4, 5, 6): (2, 5, 6, 4), (1, 2, 5, 6, 1): (2, 5, 6, 1)}.items())    # fmt: skip
def test_layouts_are_told_by_the_shape(shape, frames):
    assert shown(np.zeros(shape, np.uint8))[0].shape == frames


def test_clips_beyond_eight_begin_a_new_row():
    clips = np.arange(10, dtype=np.uint8)[:, None, None, None, None] * np.ones((10, 2, 1, 2, 2), np.uint8)
    frames, _ = shown(clips, dataformat="NTCHW")
    assert frames.shape == (2, 4, 16, 1)
    assert frames[0, ::2, ::2, 0].tolist() == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 0, 0, 0, 0, 0, 0]]


def test_brightness_is_that_of_images():
    assert np.unique(shown(np.full((2, 3, 3), 0.5, np.float32))[0]).tolist() == [128]


def test_an_ambiguous_layout_is_channels_first_with_one_warning(monkeypatch):
    heard = Heard()
    monkeypatch.setattr(video, "NOTICES", heard)
    for _ in range(2):
        frames, _ = shown(np.zeros((1, 2, 3, 5, 4), np.uint8))
        assert frames.shape == (2, 5, 4, 3)
    assert len(heard.texts) == 1


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 5, 6, 7), (2, 5, 6, 7), (0, 3, 4, 4), (1, 2, 3, 0, 4), (1,) * 6])
def test_other_shapes_are_refused(shape):
    with pytest.raises(RefusedValueError, match="video"):
        VIDEO.snapshot(np.zeros(shape, np.uint8))


WRONG = [*({"dataformat": each} for each in ("XTCHW", "NNTHW", "THWC")), *({"fps": each} for each in (0, np.nan, None))]


@pytest.mark.parametrize("options", WRONG)
def test_wrong_options_are_refused(options):
    with pytest.raises(RefusedValueError):
        VIDEO.snapshot(np.zeros((1, 2, 3, 5, 6), np.uint8), **options)


def test_au2_no_extra_is_needed(run_script):
    """8 frames of uint8, with every optional package out of reach."""
    code = """
import sys
for name in ("PIL", "isal", "moviepy", "imageio", "av", "torch"): sys.modules[name] = None
import numpy as np
from summarykit.kinds.video import VIDEO
shape = VIDEO.reduce(VIDEO.snapshot(np.zeros((1, 8, 3, 16, 16), "u1")))
assert shape.encoded.count(b"fcTL") == 8
"""
    run_script(code).expect_success()
