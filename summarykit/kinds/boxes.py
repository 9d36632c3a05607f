"""Image with boxes: a picture with rectangles, and labels, drawn on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds import drawing, png
from summarykit.kinds.arrays import Frozen, guarded, typed
from summarykit.kinds.image import IMAGE, Picture
from summarykit.kinds.kind import no_options
from summarykit.kinds.layout import as_batch
from summarykit.kinds.pixels import to_pixels
from summarykit.shapes import Array, Floats, Image

_LARGEST_SCALE = 64


@dataclass(frozen=True, eq=False)
class Marked:
    """A frozen picture with the boxes to draw: float64, shape ``[n, 4]``, left, top, right, bottom in its pixels."""

    picture: Picture
    boxes: Floats
    labels: tuple[str, ...]
    rescale: float

    @property
    def nbytes(self) -> int:
        """Memory held by the picture, in bytes."""
        return self.picture.nbytes


class ImageWithBoxesKind:
    """One picture, as `ImageKind` takes it, with red boxes on it. Labels are written where Pillow is installed (else: one warning)."""

    name = "image_with_boxes"

    def snapshot(
        self,
        value: Any,
        *,
        boxes: Any = (),
        labels: Sequence[object] | None = None,
        dataformat: str | None = None,
        rescale: float = 1,
        **options: Any,
    ) -> Marked:
        """Copy the picture once, or keep it on its device, and take the boxes.

        Args:
            value: array or tensor of one picture.
            boxes: shape ``[n, 4]``: left, top, right, bottom, in pixels of the picture; what lies outside of it is cut off.
            labels: one a box, shown as ``str`` gives it.
            dataformat: the meaning of the picture's axes (``"HW"``, ``"HWC"``, ``"CHW"``); None: by its shape.
            rescale: factor of the size that is recorded, above 0 and up to 64; lines and labels keep their own size.
            **options: none other.

        Raises:
            RefusedValueError: not a picture, boxes of another shape or with NaN, or not as many labels as boxes.
        """
        no_options(self.name, options)
        picture = IMAGE.snapshot(value, dataformat=dataformat)
        if "N" in picture.layout:
            raise RefusedValueError(f"image_with_boxes takes one picture; got shape {picture.pixels.shape} as {picture.layout}")
        found = _boxes(boxes)
        return Marked(picture, found, _labels(labels, len(found)), _scale(rescale))

    def reduce(self, snapshot: Marked) -> Image:
        """Scale, draw and encode it.

        Raises:
            RefusedValueError: a device value that could not be fetched.
        """
        pixels: Frozen = snapshot.picture.pixels
        picture = as_batch(to_pixels(pixels.get().data), snapshot.picture.layout)[0]
        canvas = drawing.coloured(_scaled(picture, snapshot.rescale))
        for place, box in enumerate(snapshot.boxes * snapshot.rescale):
            drawing.outline(canvas, box)
            if snapshot.labels:
                canvas = drawing.write(canvas, snapshot.labels[place], box)
        height, width, channels = canvas.shape
        return Image(height, width, channels, png.encode(canvas))


def _boxes(boxes: Any) -> Floats:
    found = np.array(typed(boxes).data, np.float64)
    if found.size == 0:
        return np.empty((0, 4))
    if found.ndim == 1:
        found = found[None]
    if found.ndim != 2 or found.shape[1] != 4 or not np.isfinite(found).all():
        raise RefusedValueError(f"image_with_boxes: boxes must be finite numbers of shape [n, 4], got shape {found.shape}")
    return found


def _labels(labels: Sequence[object] | None, boxes: int) -> tuple[str, ...]:
    found: tuple[str, ...] = () if labels is None else guarded(labels, _as_texts)
    if found and len(found) != boxes:
        raise RefusedValueError(f"image_with_boxes: {len(found)} labels for {boxes} boxes")
    return found


def _as_texts(labels: Sequence[object]) -> tuple[str, ...]:
    return tuple(map(str, labels))


def _scale(rescale: Any) -> float:
    if not isinstance(rescale, (int, float)) or not 0 < rescale <= _LARGEST_SCALE:
        raise RefusedValueError(f"image_with_boxes: rescale={rescale!r} must be above 0 and at most {_LARGEST_SCALE}")
    return float(rescale)


def _scaled(picture: Array, scale: float) -> Array:
    """Take the nearest pixels."""
    rows, columns = (np.minimum(np.arange(max(1, int(size * scale))) / scale, size - 1).astype(np.intp) for size in picture.shape[:2])
    return picture[rows[:, None], columns]


IMAGE_WITH_BOXES = ImageWithBoxesKind()
