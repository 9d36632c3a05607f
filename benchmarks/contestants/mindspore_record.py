"""MindSpore's SummaryRecord with default arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import Tensor
from mindspore.train.summary import SummaryRecord

IMPORT = "from mindspore.train.summary import SummaryRecord"


class Writer:
    """``add_value`` for each value, ``record`` for each step. It takes Tensors only; they are made outside the clock."""

    def __init__(self, directory: str) -> None:
        self.record = SummaryRecord(directory)

    def settings(self) -> str:
        """What decides when values reach the file."""
        return "flushes after each record, in processes of its own"

    @staticmethod
    def number(value: float) -> Any:
        """A number as a Tensor."""
        return Tensor(np.float32(value))

    @staticmethod
    def array(values: Any) -> Any:
        """An array as a Tensor."""
        return Tensor(values)

    @staticmethod
    def picture(pixels: Any) -> Any:
        """An image as a Tensor, NCHW."""
        return Tensor(np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]))

    def log(self, items: Any, step: int) -> None:
        """One step's scalars, given as pairs."""
        record = self.record
        for tag, value in items:
            record.add_value("scalar", tag, value)
        record.record(step)

    def histogram(self, tag: str, values: Any, step: int) -> None:
        """One histogram."""
        self.record.add_value("histogram", tag, values)
        self.record.record(step)

    def image(self, tag: str, pixels: Any, step: int) -> None:
        """One image."""
        self.record.add_value("image", tag, pixels)
        self.record.record(step)

    def tensor(self, tag: str, values: Any, step: int) -> None:
        """One whole array."""
        self.record.add_value("tensor", tag, values)
        self.record.record(step)

    def model_step(self, histograms: Any, scalars: Any, pixels: Any, step: int) -> None:
        """A step that records arrays and numbers, given as pairs, and an image."""
        record = self.record
        for tag, values in histograms:
            record.add_value("histogram", tag, values)
        for tag, value in scalars:
            record.add_value("scalar", tag, value)
        record.add_value("image", "input", pixels)
        record.record(step)

    def flush(self) -> None:
        """All into the file."""
        self.record.flush()

    def close(self) -> None:
        """All into the file, and closed."""
        self.record.close()
