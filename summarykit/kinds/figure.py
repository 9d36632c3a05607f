"""Figure: what matplotlib draws, as an image. It is drawn in the call: a figure cannot be copied, and its user goes on drawing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Typed, described, guarded
from summarykit.kinds.image import IMAGE, Picture
from summarykit.kinds.kind import no_options
from summarykit.lazy import loaded
from summarykit.shapes import Array, Image


class FigureKind:
    """A figure of matplotlib at its own size and resolution, or several: a grid of up to 8 columns, smaller ones on white.

    matplotlib is not imported by this: whose figure exists, that package is loaded already. Its backend, the window of the figure and
    pyplot's current figure stay as they are.
    """

    name = "figure"

    def snapshot(self, value: Any, *, close: bool = False, **options: Any) -> Picture:
        """Draw it.

        Args:
            value: a ``matplotlib.figure.Figure``, or several in a list or tuple.
            close: and close it in pyplot, where every figure made there stays in memory until then.
            **options: none other.

        Raises:
            RefusedValueError: something else, or matplotlib could not draw it; it is not closed then.
        """
        no_options(self.name, options)
        figures = list(value) if isinstance(value, (list, tuple)) else [value]
        if not figures or not all(map(_is_figure, figures)):
            raise RefusedValueError(f"figure takes a matplotlib.figure.Figure or a list of these; got {described(value)}")
        pixels = _padded([guarded(figure, _drawn) for figure in figures])
        if close:
            _close(figures)
        return Picture(Typed(pixels, "uint8", own=True), "NHWC")

    def reduce(self, snapshot: Picture) -> Image:
        """Encode it, without alpha where nothing shines through."""
        pixels = snapshot.pixels.get().data
        opaque = bool((pixels[..., 3] == 255).all())
        return IMAGE.reduce(Picture(Typed(pixels[..., :3] if opaque else pixels, "uint8"), "NHWC"))


def _is_figure(value: Any) -> bool:
    return isinstance(value, loaded("matplotlib.figure", "Figure"))


def _drawn(figure: Any) -> Array:
    """Draw into memory, RGBA of shape ``[height, width, 4]``, on a canvas of its own."""
    agg = importlib.import_module("matplotlib.backends.backend_agg")    # its package is loaded already
    before = figure.canvas
    try:
        canvas = agg.FigureCanvasAgg(figure)
        canvas.draw()
        return np.array(canvas.buffer_rgba())
    finally:
        figure.set_canvas(before)


def _padded(pictures: list[Array]) -> Array:
    """One batch, ``[figures, height, width, 4]``."""
    height, width = (max(picture.shape[axis] for picture in pictures) for axis in (0, 1))
    batch = np.full((len(pictures), height, width, 4), 255, np.uint8)
    for room, picture in zip(batch, pictures, strict=True):
        room[: picture.shape[0], : picture.shape[1]] = picture
    return batch


def _close(figures: Iterable[Any]) -> None:
    pyplot = sys.modules.get("matplotlib.pyplot")
    for figure in figures if pyplot is not None else ():
        pyplot.close(figure)    # type: ignore[union-attr]  # asked in the line above


FIGURE = FigureKind()
