"""The first images of a batch: ``input_data/auto``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams

MOST = 16
"""So many images of a batch are recorded."""
CHANNELS = (1, 3, 4)


class InputData(Part):
    """An image where the batch holds a batch of images; where it does not this part is off, and says so if it was asked for.

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
                sink.add("image", "input_data/auto", beginning(value), dataformat=layout, fit=True)
                return
        self._on = False
        if self.key in self.settings.asked:
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


def beginning(images: Any) -> Any:
    """The first of them; of MindSpore's as NumPy's: they lie in host memory, and slicing them there costs a run of its engine."""
    return (images.asnumpy() if hasattr(images, "asnumpy") else images)[:MOST]
