"""WAV files of 16-bit samples, by the standard library."""

from __future__ import annotations

import io
import wave

import numpy as np

from summarykit.shapes import Array


def encode(samples: Array, sample_rate: int) -> bytes:
    """Give the file of some sound.

    Args:
        samples: int16, shape ``[samples, channels]``.
        sample_rate: samples a second.
    """
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(np.ascontiguousarray(samples, "<i2").tobytes())
    return out.getvalue()
