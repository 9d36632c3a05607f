"""What a network is fed, made visible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from summarykit.kinds import KINDS
from summarykit.kinds.fitting import SMALL, enlarged, in_range


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_normalised_images_come_into_range_and_others_stay(dtype):
    inside = np.linspace(0, 0.9, 12).astype(dtype).reshape(1, 3, 2, 2)
    assert in_range(inside) is inside
    stretched = in_range((inside - 0.5) * 4)
    assert (stretched.min(), stretched.max()) == pytest.approx((0, 1))
    assert in_range(inside * 250).max() == pytest.approx(1)
    whole = np.arange(12, dtype=np.uint8)
    assert in_range(whole) is whole


def test_values_that_are_not_finite_do_not_take_the_range_from_the_others():
    stretched = in_range(np.array([-1.0, 0.0, 3.0, np.nan, np.inf]))
    np.testing.assert_array_equal(stretched[:3], [0, 0.25, 1])
    assert np.isnan(stretched[3])
    assert stretched[4] == np.inf


@given(arrays(np.float32, array_shapes(max_dims=4, max_side=5), elements=st.floats(width=32)))
def test_finite_values_come_into_range_whatever_they_are(images):
    found = in_range(images)
    finite = found[np.isfinite(images)]
    assert ((finite >= 0) & (finite <= 1)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_im7_a_range_that_overflows_comes_into_range_without_a_word(dtype):
    most = np.finfo(dtype).max
    found = in_range(np.array([-most, 0, most / 2, most], dtype))
    assert (found.tolist(), found.dtype) == ([0, 0.5, 0.75, 1], dtype)


@given(st.integers(1, 40), st.integers(1, 40))
def test_small_pictures_are_enlarged_by_whole_pixels(height, width):
    batch = np.arange(height * width).reshape(1, height, width, 1)
    found = enlarged(batch)
    times = found.shape[1] // height
    np.testing.assert_array_equal(found[0, :, :, 0], np.kron(batch[0, :, :, 0], np.ones((times, times))))
    assert found is batch if min(height, width) >= SMALL else min(found.shape[1:3]) >= 2 * SMALL


def test_the_kind_does_it_where_it_is_asked_to():
    kind = KINDS.get("image")
    image = np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 1, 8, 8)
    assert kind.reduce(kind.snapshot(image, dataformat="NCHW")).height == 8
    assert kind.reduce(kind.snapshot(image, dataformat="NCHW", fit=True)).height == 64
