"""MP4 files from frames, by PyAV (the extra ``video``): H.264, much smaller than an animated PNG, but lossy.

The pages of TensorBoard and MindInsight show pictures only; an MP4 is for the reader, and for players.
"""

from __future__ import annotations

import io
from fractions import Fraction
from typing import Any

import numpy as np

from summarykit.lazy import optional
from summarykit.shapes import Array


def pyav() -> Any:
    """PyAV.

    Raises:
        MissingExtraError: it is not installed.
    """
    return optional("av", extra="video", purpose="a video as MP4")


def encode(frames: Array, fps: float) -> bytes:
    """Give the file of a video.

    Args:
        frames: uint8, shape ``[frames, height, width, channels]``; 1 to 4 channels, alpha is left out. Odd heights and widths, which
            the format does not have, are filled up with a copy of the last row or column.
        fps: frames a second, above 0.
    """
    av, file = pyav(), io.BytesIO()
    pictures = _even(_colours(frames))
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(65535))
        stream.height, stream.width = pictures.shape[1:3]
        stream.pix_fmt = "yuv420p"    # the only one that every player has
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
        container.mux(stream.encode())
    return file.getvalue()


def _colours(frames: Array) -> Array:
    channels = frames.shape[-1]
    return np.repeat(frames[..., :1], 3, axis=-1) if channels < 3 else frames[..., :3]


def _even(frames: Array) -> Array:
    _, height, width, _ = frames.shape
    return np.ascontiguousarray(np.pad(frames, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)), mode="edge"))
