"""Lines and text on pixels: NumPy draws, and Pillow (where it is installed) writes."""

from __future__ import annotations

import numpy as np

from summarykit.errors import MissingExtraError
from summarykit.lazy import optional
from summarykit.notices import Notices
from summarykit.shapes import Array, Floats

NOTICES = Notices()

_THICKNESS = 2
_RED = (1.0, 0.0, 0.0, 1.0)
_BEYOND = 1 << 30


def coloured(picture: Array) -> Array:
    """Give a copy of ``[height, width, channels]`` that can show red: RGB, or RGBA where there is alpha."""
    if picture.shape[2] >= 3:
        return np.array(picture)
    return np.concatenate([picture[..., :1]] * 3 + [picture[..., 1:]], axis=2)


def outline(canvas: Array, box: Floats) -> None:
    """Draw a rectangle: left, top, right, bottom, in pixels and in any order; what lies outside is cut off."""
    height, width, channels = canvas.shape
    corners = np.sort(np.clip(np.rint(box), -_BEYOND, _BEYOND).astype(np.int64).reshape(2, 2), axis=0)
    (left, top), (right, bottom) = corners[0].tolist(), (corners[1] + 1).tolist()
    colour = _red(canvas)[:channels]
    rows, columns = _within(top, bottom, height), _within(left, right, width)
    for start, stop in ((top, top + _THICKNESS), (bottom - _THICKNESS, bottom)):
        canvas[_within(max(start, top), min(stop, bottom), height), columns] = colour
    for start, stop in ((left, left + _THICKNESS), (right - _THICKNESS, right)):
        canvas[rows, _within(max(start, left), min(stop, right), width)] = colour


def write(canvas: Array, text: str, box: Floats) -> Array:
    """Give the picture with a label at the box's upper edge; as it is where Pillow is absent, or for 16 bits."""
    try:
        image = optional("PIL.Image", extra="pillow", purpose="labels on images")
        draw = optional("PIL.ImageDraw", extra="pillow", purpose="labels on images")
    except MissingExtraError as error:
        NOTICES.once("pillow", "boxes are drawn without their labels: %s", error)
        return canvas
    if canvas.dtype != np.uint8:
        NOTICES.once("16 bits", "boxes on 16-bit images are drawn without their labels")
        return canvas
    picture = image.fromarray(canvas)
    pen = draw.Draw(picture)
    x, y = (float(np.clip(min(box[axis], box[axis + 2]), 0, size - 1)) for axis, size in ((0, canvas.shape[1]), (1, canvas.shape[0])))
    place = pen.textbbox((x, y), text)
    above = max(0.0, y - (place[3] - y) - 1)
    pen.rectangle(pen.textbbox((x, above), text), fill=tuple(int(part * 255) for part in _RED[: canvas.shape[2]]))
    pen.text((x, above), text, fill="white")
    return np.array(picture)


def _red(canvas: Array) -> Array:
    return (np.array(_RED) * np.iinfo(canvas.dtype).max).astype(canvas.dtype)


def _within(start: int, stop: int, size: int) -> slice:
    return slice(min(max(start, 0), size), min(max(stop, 0), size))
