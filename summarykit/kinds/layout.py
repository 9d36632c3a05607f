"""How the axes of a picture's array are meant."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.notices import Notices
from summarykit.shapes import Array

NOTICES = Notices()

LAYOUTS = ("HW", "HWC", "CHW", "NHW", "NHWC", "NCHW")
_LETTERS = {"".join(sorted(layout)) for layout in LAYOUTS}
_INFERRED_CHANNELS = (1, 3, 4)
_COLUMNS = 8


@lru_cache    # a loop records the same shapes again and again
def layout_of(shape: tuple[int, ...], dataformat: str | None) -> str:
    """Check the layout that was given, or find the one meant (the table is in `ImageKind`).

    Raises:
        RefusedValueError: unknown, or unfit for this shape, or no layout can be told from the shape.
    """
    layout = _inferred(shape) if dataformat is None else str(dataformat).upper()
    if "".join(sorted(layout)) not in _LETTERS:
        raise RefusedValueError(f"dataformat={dataformat!r} is not known; allowed: {', '.join(LAYOUTS)}, in any order of the letters")
    if len(layout) != len(shape):
        raise RefusedValueError(f"dataformat={dataformat!r} does not fit an image of shape {shape}")
    if 0 in shape:
        raise RefusedValueError(f"image: shape {shape} holds no pixel")
    if "C" in layout and not 1 <= shape[layout.index("C")] <= 4:
        raise RefusedValueError(f"image: {shape[layout.index('C')]} channels in shape {shape} as {layout}; allowed: 1 to 4")
    return layout


def _inferred(shape: tuple[int, ...]) -> str:
    if len(shape) == 2:
        return "HW"
    if len(shape) not in (3, 4):
        raise RefusedValueError(f"image: shape {shape} is none of {', '.join(LAYOUTS)}")
    first, last = ("CHW", "HWC") if len(shape) == 3 else ("NCHW", "NHWC")
    leads, trails = shape[-3] in _INFERRED_CHANNELS, shape[-1] in _INFERRED_CHANNELS
    if leads and trails:
        return _ambiguous(shape, last if len(shape) == 3 else first)
    if leads or trails:
        return first if leads else last
    raise RefusedValueError(f"image: shape {shape} has no axis of 1, 3 or 4 channels; give dataformat= (one of {', '.join(LAYOUTS)})")


def _ambiguous(shape: tuple[int, ...], layout: str) -> str:
    NOTICES.once(("layout", len(shape)), "image of shape %s could be channels first or last; taken as %s (give dataformat=)", shape, layout)
    return layout


def as_batch(array: Array, layout: str) -> Array:
    """Give a view of shape ``[pictures, height, width, channels]``."""
    absent = "".join(name for name in "NHWC" if name not in layout)
    names = layout + absent
    return array.reshape(array.shape + (1,) * len(absent)).transpose([names.index(name) for name in "NHWC"])


def tiled(batch: Array) -> Array:
    """Lay a batch out as one picture ``[height, width, channels]``: up to 8 columns, opaque black where no picture is left.

    Of a batch of one it is a view.
    """
    count, height, width, channels = batch.shape
    if count == 1:
        return batch[0]
    columns = min(count, _COLUMNS)
    lines = -(-count // columns)
    canvas = np.zeros((lines, height, columns, width, channels), batch.dtype)
    if channels in (2, 4):
        canvas[..., -1] = np.iinfo(batch.dtype).max
    for index in range(count):
        canvas[index // columns, :, index % columns] = batch[index]
    return canvas.reshape(lines * height, columns * width, channels)
