"""The values of TensorBoard's plugins as shapes: those that every format knows, and all others as ``Plugin``."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.formats.tensorboard.tensors import array
from summarykit.shapes import BLOB_CLASS, TENSOR_CLASS, Array, Floats, Histogram, Image, Plugin, Scalar, Shape, Tensor, strings

_TENSORS = ("", "tensor", "scalars", "histograms")    # the last two where their values are not what TensorFlow puts there
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}    # by the colour type in the file's header
_WAV = b"\x10\x0b"    # AudioPluginData{encoding: WAV}


def of_tensor(value: Any, plugin: str, content: bytes) -> Shape:
    """The shape in a ``Summary.Value`` that holds a tensor, or nothing but metadata.

    Args:
        value: the message.
        plugin: name of the plugin of its tag.
        content: that plugin's own description of the tag.
    """
    data, name = array(value.tensor)
    if plugin == "scalars" and data.size == 1 and data.dtype.kind in "fiub":
        return Scalar(value.exact_value if value.HasField("exact_value") else float(data.reshape(())))
    if plugin == "histograms" and data.ndim == 2 and data.shape[1] == 3 and data.dtype.kind == "f":
        return _histogram_of_rows(data.astype(np.float64))
    if plugin == "images" and name == "string" and data.size == 3:
        return _image(*data.reshape(-1).tolist())
    if plugin in _TENSORS and name != "string":
        return Tensor(data, value.dtype or name)
    return _plugin(value.metadata, plugin or "tensor", content, data)


def of_audio(value: Any) -> Plugin:
    """A sound in the old form, in the new one: a row of file and label."""
    content = _WAV if value.audio.content_type == "audio/wav" else b""
    return _plugin(value.metadata, "audio", content, strings(value.audio.encoded_audio_string, b"").reshape(1, 2))


def _plugin(told: Any, plugin: str, content: bytes, data: Array) -> Plugin:
    usual = BLOB_CLASS if plugin in ("images", "audio") else TENSOR_CLASS
    return Plugin(plugin, data, content, told.data_class or usual, told.display_name, told.summary_description)


def _image(width: bytes, height: bytes, encoded: bytes) -> Image:
    is_png = encoded[:8] == b"\x89PNG\r\n\x1a\n" and len(encoded) > 25
    channels = _PNG_CHANNELS.get(encoded[25], 3) if is_png else 3
    return Image(_number(height), _number(width), channels, encoded)


def _number(digits: bytes) -> int:
    return int(digits) if digits.isdigit() and len(digits) < 10 else 0


def _histogram_of_rows(rows: Floats) -> Histogram:
    """Rows of left edge, right edge, count; the sums are not told (NaN)."""
    counts = np.rint(np.nan_to_num(rows[:, 2])).astype(np.int64)
    edges = np.append(rows[:, 0], rows[-1:, 1])
    smallest, largest = (float(edges[0]), float(edges[-1])) if len(edges) else (0.0, 0.0)
    return Histogram(edges, counts, min=smallest, max=largest, sum=float("nan"), sum_squares=float("nan"))
