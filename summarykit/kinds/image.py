"""Image: a picture, or a batch of them laid out as one, encoded as PNG."""

from __future__ import annotations

from typing import Any

from summarykit.kinds.arrays import Frozen, Later, freeze
from summarykit.kinds.kind import no_options
from summarykit.kinds.layout import layout_of
from summarykit.registry import imported
from summarykit.shapes import Image


class Picture:
    """A frozen picture with the meaning of its axes, such as ``"CHW"``; ``fit``: it is yet to be made visible.

    No dataclass: to make one takes a tenth of a millisecond of the first call.
    """

    __slots__ = ("fit", "layout", "pixels")

    def __init__(self, pixels: Frozen, layout: str, fit: bool = False) -> None:
        self.pixels, self.layout, self.fit = pixels, layout, fit

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.pixels.nbytes

    @property
    def settled(self) -> bool:
        """Whether the pixels are in host memory."""
        return not isinstance(self.pixels, Later) or self.pixels.settled


class ImageKind:
    """A picture of 1 (grey), 2 (grey + alpha), 3 (RGB) or 4 (RGBA) channels; a batch becomes a grid of up to 8 columns on black.

    The layout, where ``dataformat=`` does not give it (``"HW"``, ``"HWC"``, ``"CHW"``, ``"NHW"``, ``"NHWC"``, ``"NCHW"``, the letters in
    any order and case):

    =====  ===========================================  ==================================
    axes   1, 3 or 4 entries along                      taken as
    =====  ===========================================  ==================================
    2      (any)                                        HW
    3      the first axis only                          CHW
    3      the last axis only                           HWC
    3      both: (4, 5, 3)                              HWC, with one warning
    4      the second axis only                         NCHW
    4      the last axis only                           NHWC
    4      both: (8, 3, 32, 3)                          NCHW (MindSpore's), with one warning
    else   none of them                                 refused: give ``dataformat=``
    =====  ===========================================  ==================================

    The brightness:

    ==============================================  ================================================================
    dtype and values                                pixel
    ==============================================  ================================================================
    uint8                                           as it is
    uint16                                          as it is, in a PNG of 16 bits (browsers and viewers show these)
    bool                                            0 or 255
    other integers                                  0 to 255 as they are
    floats, largest finite value at most 2          0.0 to 1.0 become 0 to 255, rounded
    floats, largest finite value above 2            0 to 255 as they are, rounded
    beyond that range                               clipped, with one warning; never wrapped
    NaN; +Inf; -Inf                                 0; the brightest; 0 (with one warning)
    ==============================================  ================================================================

    The range is that of the whole batch, alpha included. (A largest value between 1 and 2 is overshoot of [0, 1], not a picture that is
    all but black.)
    """

    name = "image"
    small = 2**14

    def snapshot(self, value: Any, *, dataformat: str | None = None, fit: bool = False, **options: Any) -> Picture:
        """Copy the array once, or keep it on its device, and tell its layout.

        Args:
            value: array or tensor of 2 to 4 axes.
            dataformat: the meaning of its axes; None: by the table above.
            fit: for what a network is fed: floats of any range (normalised ones) are brought into [0, 1], and small pictures enlarged.
            **options: none other.

        Raises:
            RefusedValueError: not an array of real numbers, or not a picture's shape.
        """
        no_options(self.name, options)
        pixels = freeze(value)
        return Picture(pixels, layout_of(pixels.shape, dataformat), fit)

    def reduce(self, snapshot: Picture) -> Image:
        """Scale, lay out and encode it.

        Raises:
            RefusedValueError: a device value that could not be fetched.
        """
        image: Image = imported("summarykit.kinds.rendering").rendered(snapshot.pixels.get().data, snapshot.layout, snapshot.fit)
        return image


IMAGE = ImageKind()
