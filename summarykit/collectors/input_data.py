"""The first images of a batch: ``input_data/auto``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams

MOST = 16
"""So many images of a batch are recorded."""
SMALL = 32
"""Images with fewer rows or columns are enlarged, so that one sees something."""
CHANNELS = (1, 3, 4)


class InputData(Part):
    """An image where the batch holds a batch of images; where it does not, that is said once and this part is off.

    Taken is the first element of a tuple or list, the first value of a mapping that looks like images, or the batch itself:
    four axes, of which the second or the last has 1, 3 or 4 channels.
    """

    key = "collect_input_data"

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._on = True

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect the batch of this step."""
        batch = params.get("train_dataset_element")
        if not self._on or batch is None:    # some frameworks do not show their batches
            return
        for value in candidates(batch):
            if layout := image_layout(value):
                sink.add("image", "input_data/auto", enlarged(in_range(plain(value[:MOST])), layout), dataformat=layout)
                return
        self._on = False
        self.notices.once("input data", "input data is not recorded: a batch of type %s holds no batch of images", type(batch).__name__)


def candidates(batch: Any) -> Iterator[Any]:
    """Give what may be the images of a batch."""
    if isinstance(batch, Mapping):
        yield from batch.values()
    elif isinstance(batch, (list, tuple)):
        yield from batch[:1]
    else:
        yield batch


def image_layout(value: Any) -> str | None:
    """Tell ``"NCHW"`` from ``"NHWC"`` by the shape; None where it is no batch of images."""
    shape = getattr(value, "shape", None)
    if shape is None or len(shape) != 4 or 0 in shape:
        return None
    if shape[1] in CHANNELS:
        return "NCHW"
    return "NHWC" if shape[3] in CHANNELS else None


def plain(images: Any) -> Any:
    """NumPy's array where it costs nothing: PyTorch takes milliseconds to index a small tensor by arrays, MindSpore cannot do it."""
    if hasattr(images, "asnumpy"):
        return images.asnumpy()
    if not getattr(images, "is_cpu", False):
        return images
    try:
        return images.detach().numpy()
    except TypeError:    # NumPy has no such numbers: bfloat16
        return images


def in_range(images: Any) -> Any:
    """Bring normalised floats into [0, 1]: what lies there already stays as it is; by methods that arrays of every framework have."""
    if "float" not in str(images.dtype):
        return images
    low, high = images.min().clip(max=0), images.max().clip(min=1)
    return (images - low) / (high - low)


def enlarged(images: Any, layout: str) -> Any:
    """Repeat the pixels of small images; by indexing, which arrays of nearly every framework can do and none waits for."""
    height, width = (images.shape[layout.index(axis)] for axis in "HW")
    times = -(-2 * SMALL // min(height, width)) if min(height, width) < SMALL else 1
    if times == 1:
        return images
    rows, columns = (np.repeat(np.arange(size), times) for size in (height, width))
    return images[:, :, rows][:, :, :, columns] if layout == "NCHW" else images[:, rows][:, :, columns]
