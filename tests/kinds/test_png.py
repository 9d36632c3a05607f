"""PNG files, read back with Pillow and by hand."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from summarykit.kinds import png

MODES = {(1, "uint8"): "L", (2, "uint8"): "LA", (3, "uint8"): "RGB", (4, "uint8"): "RGBA", (1, "uint16"): "I;16"}
PIXELS = st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4)).flatmap(
    lambda shape: hnp.arrays(st.sampled_from([np.uint8, np.uint16]), shape)
)


@pytest.fixture(params=["isal", "zlib"])
def encode(request, monkeypatch):
    """The encoder with each compressor."""
    if request.param == "isal":
        pytest.importorskip("isal")
    else:
        monkeypatch.setattr(png, "imported", missing)
    png.compressor.cache_clear()
    yield png.encode
    png.compressor.cache_clear()


def missing(module):
    raise ImportError(module)


def decode(data):
    """A plain reader of what the encoder writes: chunks with their checksums, one 'up'-filtered stream."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, place = [], 8
    while place < len(data):
        size, name = struct.unpack_from(">I4s", data, place)
        content = data[place + 8 : place + 8 + size]
        assert struct.unpack_from(">I", data, place + 8 + size)[0] == zlib.crc32(name + content)
        chunks.append((name, content))
        place += 12 + size
    assert [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert rest == [0, 0, 0]
    rows = np.frombuffer(zlib.decompress(chunks[1][1]), np.uint8).reshape(height, -1)
    assert (rows[:, 0] == 2).all()
    values = np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8)
    return np.ascontiguousarray(values).view(">u1" if depth == 8 else ">u2").reshape(height, width, {0: 1, 4: 2, 2: 3, 6: 4}[colour])


@given(PIXELS)
def test_every_mode_is_read_back(pixels):
    assert np.array_equal(decode(png.encode(pixels)), pixels)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_pillow_reads_every_mode(encode, channels, dtype):
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, (13, 7, channels), dtype, endpoint=True)
    picture = pillow.open(io.BytesIO(encode(pixels)))
    picture.load()
    assert picture.size == (7, 13)
    if (channels, dtype) in MODES:
        assert picture.mode == MODES[channels, dtype]
        assert np.array_equal(np.asarray(picture).reshape(pixels.shape), pixels)
    else:  # Pillow keeps the upper byte of 16-bit colour
        assert np.array_equal(np.asarray(picture.convert({2: "LA", 3: "RGB", 4: "RGBA"}[channels])), pixels >> 8)


def test_strided_pixels_are_encoded(encode):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 20, 30), np.uint8).transpose(1, 2, 0)[::2, ::-1]
    assert np.array_equal(decode(encode(pixels)), pixels)


@pytest.mark.parametrize("period", [1, 40, 100], ids="alike within {} rows".format)
def test_what_is_alike_nearby_and_far_away_is_read_back(encode, period):
    """A row takes 600 bytes, so that its like lies within the compressor's window, or beyond it."""
    pillow = pytest.importorskip("PIL.Image")
    rows = np.random.default_rng(0).integers(0, 256, (period, 200, 3), np.uint8)
    pixels = np.tile(rows, (400 // period, 1, 1))
    encoded = encode(pixels)
    assert np.array_equal(decode(encoded), pixels)
    assert np.array_equal(np.asarray(pillow.open(io.BytesIO(encoded))), pixels)


def test_isal_is_looked_for_at_the_first_picture_only(run_script):
    run_script("""
import sys
import numpy as np
from summarykit.kinds import png
assert "isal" not in sys.modules
png.encode(np.zeros((2, 2, 1), np.uint8))
assert "PIL" not in sys.modules
""").expect_success()
