"""The neutral shapes between kinds and formats.

A kind (scalar, histogram, image, tensor …) reduces what a user recorded to one of these;
a format lays these out on disk and gives them back. Neither knows the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Scalar:
    """One number, kept as float64 (exact for every float and for integers up to 2**53)."""

    value: float


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of finite values between edges (ours: of equal width); NaN and infinities are counted apart.

    Attributes:
        edges: float64, shape ``[bins + 1]``, ascending; empty where nothing finite came.
        counts: int64, shape ``[bins]``; the last bin is closed on the right.
        nan: number of NaN values.
        pos_inf: number of +Inf values.
        neg_inf: number of -Inf values.
        min: smallest finite value (0.0 where there is none).
        max: largest finite value (0.0 where there is none).
        sum: sum of the finite values, accumulated in float64.
        sum_squares: sum of their squares, accumulated in float64.
    """

    edges: Floats
    counts: Ints
    nan: int = 0
    pos_inf: int = 0
    neg_inf: int = 0
    min: float = 0.0
    max: float = 0.0
    sum: float = 0.0
    sum_squares: float = 0.0

    @property
    def finite(self) -> int:
        """Number of finite values."""
        return int(self.counts.sum())

    @property
    def count(self) -> int:
        """Number of all values, finite or not."""
        return self.finite + self.nan + self.pos_inf + self.neg_inf


@dataclass(frozen=True)
class Image:
    """One encoded picture.

    Attributes:
        height: pixels.
        width: pixels.
        channels: 1 grey, 2 grey + alpha, 3 RGB, 4 RGBA (TensorBoard calls it ``colorspace``).
        encoded: the bytes of a PNG (or, in files of others, JPEG or GIF) file.
    """

    height: int
    width: int
    channels: int
    encoded: bytes


@dataclass(frozen=True, eq=False)
class Tensor:
    """A whole array.

    Attributes:
        data: little-endian, C-contiguous array of a NumPy dtype (bool, int8 … uint64, float16, float32, float64);
            of an extension dtype (bfloat16, float8 …) the values, exactly, in the smallest such dtype.
        dtype: the name of the dtype that was recorded: ``"bfloat16"`` where ``data`` is float32.
    """

    data: Array
    dtype: str


@dataclass(frozen=True, eq=False)
class Plugin:
    """A value for one plugin of TensorBoard (text, audio, PR curve, mesh, hparams ...), in that plugin's own form.

    Attributes:
        plugin: the plugin's name, as TensorBoard has it: ``"text"``, ``"audio"``, ``"pr_curves"``, ``"mesh"``, ``"hparams"`` ...
        data: numbers (little-endian, C-contiguous, any shape) or, dtype object, bytes strings; see ``strings``.
        metadata: the plugin's own description of the tag, serialised.
        data_class: what TensorBoard is to keep: ``SCALAR_CLASS``, ``TENSOR_CLASS``, or ``BLOB_CLASS`` for strings that are files.
        display_name: title in place of the tag.
        description: Markdown beside the title.
    """

    plugin: str
    data: Array
    metadata: bytes = b""
    data_class: int = 2
    display_name: str = ""
    description: str = ""


SCALAR_CLASS, TENSOR_CLASS, BLOB_CLASS = 1, 2, 3


def strings(*values: bytes) -> Array:
    """Bytes strings as an array of shape ``[n]``; ``reshape`` gives it another."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


@dataclass(frozen=True)
class Blob:
    """What no other shape covers: a message as a whole.

    Attributes:
        plugin: what it is (``"graph"``, ``"lineage"``, ``"landscape"`` ...).
        content: its bytes.
        metadata: what its writer says of it.
    """

    plugin: str
    content: bytes
    metadata: bytes = b""


Shape = Scalar | Histogram | Image | Tensor | Plugin | Blob


@dataclass(frozen=True)
class Point:
    """One recorded value with its place.

    Attributes:
        kind: what it is (``"scalar"``, ``"histogram"``, ``"image"``, ``"tensor"``, ``"text"`` ...).
        tag: the name it was recorded under.
        step: optimizer updates completed, int64.
        wall_time: seconds since the epoch.
        value: its shape.
    """

    kind: str
    tag: str
    step: int
    wall_time: float
    value: Shape
