"""Images: layouts, brightness and grids, by the tables of `ImageKind`."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from testkit.heard import Heard

from summarykit.errors import RefusedValueError
from summarykit.kinds import layout, pixels
from summarykit.kinds.image import IMAGE

pillow = pytest.importorskip("PIL.Image")


@pytest.fixture(autouse=True)
def notices(monkeypatch):
    """The warnings of one test, untold so far."""
    heard = Heard()
    monkeypatch.setattr(pixels, "NOTICES", heard)
    monkeypatch.setattr(layout, "NOTICES", heard)
    layout.layout_of.cache_clear()    # an earlier test's picture of the same shape has been told of
    return heard


def shown(value, **options):
    """The pixels that a viewer shows, ``[height, width]`` or ``[height, width, channels]``."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shape = IMAGE.reduce(IMAGE.snapshot(value, **options))
    picture = np.asarray(pillow.open(io.BytesIO(shape.encoded)))
    assert picture.shape[:2] == (shape.height, shape.width)
    assert (picture.shape[2] if picture.ndim == 3 else 1) == shape.channels
    return picture


def only(value, **options):
    """The one brightness of a picture."""
    return np.unique(shown(value, **options)).tolist()


def test_im1_uint8_stays(notices):
    assert only(np.full((3, 4, 5), 200, np.uint8)) == [200]
    assert not notices.texts


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_im1_floats_from_0_to_1_are_scaled(dtype, notices):
    assert only(np.full((3, 4, 5), 0.5, dtype)) == [128]
    assert only(np.array([[0, 0.25, 1]], dtype)) == [0, 64, 255]
    assert not notices.texts


def test_im1_floats_up_to_255_stay(notices):
    assert only(np.full((3, 4, 5), 200.0)) == [200]
    assert shown(np.array([[0, 0.4, 0.6, 254.6]])).tolist() == [[0, 0, 1, 255]]
    assert not notices.texts


def test_im1_negative_floats_are_clipped_with_one_warning(notices):
    for _ in range(3):
        assert only(np.full((3, 4, 5), -0.5)) == [0]
    assert len(notices.texts) == 1
    assert "clipped" in notices.texts[0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-0.5, 0.5], [0, 128]),
        ([0.5, 1.2], [128, 255]),
        ([-5.0, 100.0, 300.0], [0, 100, 255]),
        ([0.0, np.inf], [0, 255]),
        ([1.0, -np.inf], [255, 0]),
        ([0.0, 1e300], [0, 255]),
    ],
)
def test_im1_floats_out_of_range_are_clipped_with_one_warning(values, expected, notices):
    for _ in range(2):
        assert shown(np.array([values])).tolist() == [expected]
    assert len(notices.texts) == 1


def test_rounding_is_no_reason_for_a_warning(notices):
    assert only(np.array([[1.0000001, -1e-9]], np.float32)) == [0, 255]
    assert not notices.texts


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint32, np.uint64])
def test_im1_other_integers_are_clipped_never_wrapped(dtype, notices):
    limits = np.iinfo(dtype)
    assert shown(np.array([[0, 100, limits.max]], dtype)).tolist() == [[0, 100, min(255, limits.max)]]
    assert shown(np.array([[limits.min, 3]], dtype)).tolist() == [[0, 3]]
    assert len(notices.texts) == 1


def test_im2_channels_at_both_ends_are_hwc_with_one_warning(notices):
    for _ in range(3):
        assert shown(np.zeros((4, 5, 3))).shape == (4, 5, 3)
    assert len(notices.texts) == 1
    assert "dataformat" in notices.texts[0]


def test_im2_a_given_layout_is_not_guessed(notices):
    assert shown(np.zeros((4, 5, 3)), dataformat="CHW").shape == (5, 3, 4)
    assert shown(np.zeros((4, 5, 3)), dataformat="hwc").shape == (4, 5, 3)
    assert not notices.texts


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((5, 6), "HW"),
        ((3, 5, 6), "CHW"),
        ((1, 5, 6), "CHW"),
        ((4, 5, 6), "CHW"),
        ((5, 6, 3), "HWC"),
        ((3, 5, 3), "HWC"),
        ((7, 3, 5, 6), "NCHW"),
        ((7, 5, 6, 3), "NHWC"),
        ((3, 5, 6, 1), "NHWC"),
        ((8, 3, 32, 3), "NCHW"),
        ((8, 1, 32, 4), "NCHW"),
    ],
)
def test_the_table_of_layouts(shape, expected):
    assert IMAGE.snapshot(np.zeros(shape)).layout == expected


@pytest.mark.parametrize("shape", [(), (5,), (2, 5, 6), (5, 6, 2), (8, 5, 6, 7), (1, 1, 1, 1, 3), (0, 5), (3, 0, 5), (0, 3, 4, 6)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(RefusedValueError, match="image"):
        IMAGE.snapshot(np.zeros(shape))


@pytest.mark.parametrize(("shape", "given"), [((5, 6), "CHW"), ((3, 5, 6), "NCHW"), ((5, 5, 6), "CHW"), ((5, 6), "XY"), ((5, 6), "HH")])
def test_layouts_that_do_not_fit_are_refused(shape, given):
    with pytest.raises(RefusedValueError):
        IMAGE.snapshot(np.zeros(shape), dataformat=given)


@pytest.mark.parametrize(("layout", "axes"), [("WH", (1, 0)), ("WHC", (1, 0, 2)), ("CWH", (2, 1, 0)), ("HCW", (0, 2, 1))])
def test_the_axes_may_come_in_any_order(layout, axes):
    picture = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)[..., : len(axes) - 2 or 1]
    expected = IMAGE.reduce(IMAGE.snapshot(picture[..., 0] if len(axes) == 2 else picture))
    order = [{"H": 0, "W": 1, "C": 2}[axis] for axis in layout]
    turned = (picture[..., 0] if len(axes) == 2 else picture).transpose(order)
    assert IMAGE.reduce(IMAGE.snapshot(turned, dataformat=layout)).encoded == expected.encoded


def test_an_unknown_option_is_an_error_of_the_call():
    with pytest.raises(TypeError, match="colour"):
        IMAGE.snapshot(np.zeros((2, 2)), colour=1)


@pytest.mark.parametrize("name", ["HW", "HWC", "CHW", "NHW", "NHWC", "NCHW"])
@given(data=st.data())
def test_every_layout_shows_the_same_pixels(name, data):
    """The pixels of every layout, laid out by plain loops."""
    sizes = {"N": 1, "C": 1, **{axis: data.draw(st.integers(1, 5)) for axis in name}}
    sizes["N"] *= data.draw(st.sampled_from([1, 4])) if "N" in name else 1
    sizes["C"] = data.draw(st.integers(1, 4)) if "C" in name else 1
    values = data.draw(hnp.arrays(np.uint8, tuple(sizes[axis] for axis in name)))
    assert np.array_equal(shown(values, dataformat=name).reshape(grid(values, name, sizes).shape), grid(values, name, sizes))


def grid(values, name, sizes):
    columns = min(sizes["N"], 8)
    lines = (sizes["N"] + columns - 1) // columns
    canvas = np.zeros((lines * sizes["H"], columns * sizes["W"], sizes["C"]), np.uint8)
    if sizes["C"] in (2, 4):
        canvas[:, :, -1] = 255
    for n, h, w, c in np.ndindex(*(sizes[axis] for axis in "NHWC")):
        place = tuple({"N": n, "H": h, "W": w, "C": c}[axis] for axis in name)
        canvas[n // 8 * sizes["H"] + h, n % 8 * sizes["W"] + w, c] = values[place]
    return canvas


def test_a_batch_is_a_grid_of_eight_columns_on_black():
    values = np.arange(1, 11, dtype=np.uint8)[:, None, None, None] * np.ones((10, 1, 2, 2), np.uint8)
    picture = shown(values)
    assert picture.shape == (4, 16)
    assert picture[0, ::2].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert picture[2, ::2].tolist() == [9, 10, 0, 0, 0, 0, 0, 0]


@given(hnp.arrays(hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biuf"), hnp.array_shapes(min_dims=2, max_dims=2)))
def test_no_values_fail(values):
    picture = shown(values)
    assert picture.shape == values.shape
    if values.dtype == np.uint16:
        assert np.array_equal(picture, values)


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(0, 255)))
def test_brightness_follows_the_table(values):
    scale = 255 if values.max() <= 2 else 1
    expected = np.clip(values * scale, 0, 255)
    assert (np.abs(shown(values) - expected) <= 0.5001).all()


def test_im5_a_mask_is_black_and_white():
    assert shown(np.array([[True, False]])).tolist() == [[255, 0]]


def test_im5_grey_with_and_without_a_channel_axis():
    grey = np.arange(30, dtype=np.uint8).reshape(5, 6)
    for form in (grey, grey[None], grey[..., None], grey[None, None], grey[None, ..., None]):
        assert np.array_equal(shown(form), grey)


def test_im5_alpha_is_kept():
    values = np.random.default_rng(0).integers(0, 256, (5, 6, 4), np.uint8)
    assert np.array_equal(shown(values), values)


def test_im5_nan_is_black_with_one_warning(notices):
    for _ in range(2):
        assert shown(np.array([[np.nan, 0.5]])).tolist() == [[0, 128]]
    assert only(np.full((2, 2), np.nan)) == [0]
    assert len(notices.texts) == 1
    assert "NaN" in notices.texts[0]


def test_uint16_keeps_its_16_bits():
    values = np.array([[0, 1, 257, 65535]], np.uint16)
    for form in (values, values.astype(">u2")):
        assert shown(form).tolist() == values.tolist()


def test_va13_an_image_does_not_follow_changes():
    values = np.full((4, 4), 7, np.uint8)
    kept = IMAGE.snapshot(values)
    values[:] = 0
    assert only_of(IMAGE.reduce(kept)) == [7]


def only_of(shape):
    return np.unique(np.asarray(pillow.open(io.BytesIO(shape.encoded)))).tolist()


def test_reducing_twice_gives_the_same():
    kept = IMAGE.snapshot(np.array([[np.nan, 0.5, 3]]))
    assert IMAGE.reduce(kept) == IMAGE.reduce(kept)
