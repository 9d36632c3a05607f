"""Sounds: shapes, full scales, what is out of range; the file read back by the standard library."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from testkit.heard import Heard

from summarykit.errors import RefusedValueError
from summarykit.kinds import audio
from summarykit.kinds.audio import AUDIO
from summarykit.shapes import BLOB_CLASS


@pytest.fixture(autouse=True)
def notices(monkeypatch):
    """The warnings of one test, untold so far."""
    heard = Heard()
    monkeypatch.setattr(audio, "NOTICES", heard)
    return heard


def heard(value, **options):
    """Samples ``[samples, channels]`` and rate of the recorded file."""
    shape = AUDIO.reduce(AUDIO.snapshot(value, **options))
    assert (shape.plugin, shape.data_class, shape.data.shape) == ("audio", BLOB_CLASS, (1,))
    with wave.open(io.BytesIO(shape.data[0])) as file:
        assert file.getsampwidth() == 2
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples.reshape(-1, file.getnchannels()), file.getframerate()


@given(hnp.arrays(np.int16, hnp.array_shapes(max_dims=1)), st.integers(1, 2**30 - 1))
def test_16_bit_samples_stay(samples, rate):
    found, speed = heard(samples, sample_rate=rate)
    assert np.array_equal(found[:, 0], samples)
    assert speed == rate


@given(hnp.arrays(st.sampled_from([np.float16, np.float32, np.float64]), hnp.array_shapes(max_dims=1), elements=st.floats(-1, 1, width=16)))
def test_floats_span_the_full_scale(samples):
    found, _ = heard(samples)
    assert (np.abs(found[:, 0] - samples.astype("f8") * 32767) <= 0.51).all()


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        ("int8", [-128, 0, 127], [-32768, 0, 127 * 256]),
        ("uint8", [0, 128, 255], [-32768, 0, 127 * 256]),
        ("int32", [-(2**31), 0, 2**31 - 1, 65535], [-32768, 0, 32767, 0]),
    ],
)
def test_integers_are_brought_to_16_bits(dtype, values, expected):
    assert heard(np.array(values, dtype))[0][:, 0].tolist() == expected


@pytest.mark.parametrize("dtype", ["int64", "uint16", "bool"])
def test_integers_without_a_full_scale_are_refused(dtype):
    with pytest.raises(RefusedValueError, match=dtype):
        heard(np.ones(4, dtype))


LAYOUTS = {(5,): 1, (1, 5): 1, (5, 1): 1, (5, 2): 2, (2, 5): 2, (2, 2): 2, (1, 1): 1, (1, 2): 1, (2, 1): 1}


@pytest.mark.parametrize(("shape", "channels"), LAYOUTS.items())
def test_layouts(shape, channels):
    values = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    found, _ = heard(values)
    assert found.shape[1] == channels
    expected = values.T if shape in ((1, 5), (2, 5), (1, 2)) else values.reshape(-1, channels)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (5, 3), (3, 5), (1, 2, 5), ()])
def test_other_shapes_are_refused(shape):
    with pytest.raises(RefusedValueError, match="shape"):
        AUDIO.snapshot(np.zeros(shape, np.float32))


def test_g15_beyond_the_range_is_clipped_with_one_warning(notices):
    for _ in range(2):
        assert heard(np.array([-3, -1, 0, 1, np.inf]))[0][:, 0].tolist() == [-32767, -32767, 0, 32767, 32767]
    assert len(notices.texts) == 1
    assert "clipped" in notices.texts[0]


def test_g5_nan_is_silence_with_one_warning(notices):
    for _ in range(2):
        assert heard(np.array([np.nan, 0.5]))[0][:, 0].tolist() == [0, 16384]
    assert len(notices.texts) == 1


@pytest.mark.parametrize("rate", [0, -1, 1.5, "fast", None, 2**30])
def test_a_wrong_rate_is_refused(rate):
    with pytest.raises(RefusedValueError, match="sample_rate"):
        AUDIO.snapshot(np.zeros(3), sample_rate=rate)


def test_rates_of_numpy_are_rates():
    assert heard(np.zeros(3), sample_rate=np.int32(8000))[1] == 8000
    assert heard(np.zeros(3), sample_rate=8000.0)[1] == 8000
