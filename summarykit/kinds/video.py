"""Video: a clip, or several side by side, as an animated PNG or an MP4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds import apng, mp4
from summarykit.kinds.arrays import Frozen, freeze
from summarykit.kinds.kind import no_options
from summarykit.kinds.layout import tiled
from summarykit.kinds.pixels import to_pixels
from summarykit.notices import Notices
from summarykit.shapes import BLOB_CLASS, Array, Image, Plugin, strings

NOTICES = Notices()

LAYOUTS = ("THW", "TCHW", "THWC", "NTHW", "NTCHW", "NTHWC")
ENCODINGS = ("apng", "mp4")
_CHANNELS = (1, 3, 4)


@dataclass(frozen=True, eq=False)
class Clip:
    """Frozen clips with the meaning of their axes, such as ``"NTCHW"``, their speed, and what is to become of them."""

    pixels: Frozen
    layout: str
    fps: float
    encoding: str

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.pixels.nbytes


class VideoKind:
    """Clips of 1 (grey), 2 (grey + alpha), 3 (RGB) or 4 (RGBA) channels; several become one, side by side, up to 8 in a row.

    It is recorded as an image: an animated PNG, lossless, which TensorBoard, MindInsight and every browser play, over and over. With
    ``encoding="mp4"`` (the extra ``video``) it is recorded as a file for players, much smaller: the viewers' pages show pictures and
    leave it out, the reader gives it back. Brightness is scaled as in `ImageKind`, over the whole video.

    The layout, where ``dataformat=`` does not give it (``"THW"``, ``"TCHW"``, ``"NTHW"``, ``"NTCHW"``, the letters in any order and case):
    three axes are THW; of four and five, the axis of 1, 3 or 4 entries holds the channels. Where there are two such axes, channels come
    before the height (torch's way), with one warning.
    """

    name = "video"

    def snapshot(
        self, value: Any, *, dataformat: str | None = None, fps: float = 4, encoding: str = "apng", **options: Any
    ) -> Clip:
        """Copy the array once, or keep it on its device, and tell its layout.

        Args:
            value: array or tensor of 3 to 5 axes; T counts the frames, N the clips.
            dataformat: the meaning of its axes; None: by the shape, as above.
            fps: frames a second, above 0.
            encoding: ``"apng"`` or ``"mp4"``.
            **options: none other.

        Raises:
            RefusedValueError: not an array of real numbers, not a video's shape, ``fps`` out of range, unknown ``encoding``.
            MissingExtraError: MP4 without the extra ``video``.
        """
        no_options(self.name, options)
        if encoding not in ENCODINGS:
            raise RefusedValueError(f"video: encoding={encoding!r} is not known; allowed: {', '.join(ENCODINGS)}")
        if encoding == "mp4":
            mp4.pyav()
        pixels = freeze(value)
        return Clip(pixels, _layout_of(pixels.shape, dataformat), _checked(fps), encoding)

    def reduce(self, snapshot: Clip) -> Image | Plugin:
        """Scale, lay out and encode it.

        Raises:
            RefusedValueError: a device value that could not be fetched.
        """
        clips = _as_clips(to_pixels(snapshot.pixels.get().data), snapshot.layout)
        frames = np.stack([tiled(clips[:, time]) for time in range(clips.shape[1])])
        if snapshot.encoding == "mp4":
            return Plugin("video", strings(mp4.encode(_eight_bits(frames), snapshot.fps)), data_class=BLOB_CLASS)
        height, width, channels = frames.shape[1:]
        return Image(height, width, channels, apng.encode(frames, snapshot.fps))


def _eight_bits(frames: Array) -> Array:
    return (frames >> 8).astype(np.uint8) if frames.dtype == np.uint16 else frames


def _checked(fps: float) -> float:
    try:
        speed = float(fps)
    except (TypeError, ValueError):
        speed = 0.0
    if not 1 / apng.FASTEST <= speed <= apng.FASTEST:
        raise RefusedValueError(f"video: fps={fps!r} must be a number of frames a second, 1/{apng.FASTEST} to {apng.FASTEST}")
    return speed


def _layout_of(shape: tuple[int, ...], dataformat: str | None) -> str:
    layout = _inferred(shape) if dataformat is None else str(dataformat).upper()
    if sorted(layout) not in map(sorted, LAYOUTS) or len(layout) != len(shape):
        allowed = f"the letters of {', '.join(LAYOUTS)}"
        raise RefusedValueError(f"video: dataformat={dataformat!r} does not fit shape {shape}; allowed: {allowed}")
    if 0 in shape:
        raise RefusedValueError(f"video: shape {shape} holds no pixel")
    if "C" in layout and not 1 <= shape[layout.index("C")] <= 4:
        raise RefusedValueError(f"video: {shape[layout.index('C')]} channels in shape {shape} as {layout}; allowed: 1 to 4")
    return layout


def _inferred(shape: tuple[int, ...]) -> str:
    if len(shape) == 3:
        return "THW"
    if len(shape) not in (4, 5):
        raise RefusedValueError(f"video: shape {shape} is none of {', '.join(LAYOUTS)}")
    first, last = ("TCHW", "THWC") if len(shape) == 4 else ("NTCHW", "NTHWC")
    leads, trails = shape[-3] in _CHANNELS, shape[-1] in _CHANNELS
    if not leads and not trails:
        raise RefusedValueError(f"video: shape {shape} has no axis of 1, 3 or 4 channels; give dataformat= (one of {', '.join(LAYOUTS)})")
    if leads and trails:
        NOTICES.once(len(shape), "video of shape %s could be channels first or last; taken as %s (give dataformat=)", shape, first)
    return first if leads else last


def _as_clips(array: Array, layout: str) -> Array:
    """Give a view of shape ``[clips, frames, height, width, channels]``."""
    absent = "".join(name for name in "NTHWC" if name not in layout)
    names = layout + absent
    return array.reshape(array.shape + (1,) * len(absent)).transpose([names.index(name) for name in "NTHWC"])


VIDEO = VideoKind()
