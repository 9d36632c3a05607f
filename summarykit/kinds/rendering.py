"""Pictures on their way to PNG files: loaded where the first one is reduced, not in the training thread."""

from __future__ import annotations

from summarykit.kinds.layout import as_batch, tiled
from summarykit.kinds.pixels import to_pixels
from summarykit.kinds.png import encode
from summarykit.registry import imported
from summarykit.shapes import Array, Image


def rendered(data: Array, layout: str, fit: bool) -> Image:
    """Scale, lay out and encode a picture.

    Args:
        data: its values, of any real dtype.
        layout: the meaning of its axes, such as ``"NCHW"``.
        fit: it is to be made visible: brought into [0, 1], and enlarged where it is small.
    """
    if not fit:
        return _encoded(as_batch(to_pixels(data), layout))
    fitting = imported("summarykit.kinds.fitting")    # most runs need it not
    return _encoded(fitting.enlarged(as_batch(to_pixels(fitting.in_range(data)), layout)))


def _encoded(batch: Array) -> Image:
    picture = tiled(batch)
    height, width, channels = picture.shape
    return Image(height, width, channels, encode(picture))
