"""What the contestants have in common."""

from __future__ import annotations

import inspect
from typing import Any


class Plain:
    """Takes Python numbers and NumPy arrays as they are."""

    @staticmethod
    def number(value: float) -> Any:
        """What a user of this library has in hand for a number; made outside the clock."""
        return value

    @staticmethod
    def array(values: Any) -> Any:
        """The same for an array."""
        return values

    @staticmethod
    def picture(pixels: Any) -> Any:
        """The same for an image that is given as uint8, height x width x 3."""
        return pixels


class TensorBoardStyle(Plain):
    """A ``SummaryWriter``: one call for each value, none at a step's end."""

    writer: Any

    def settings(self) -> str:
        """What decides when values reach the file."""
        defaults = inspect.signature(type(self.writer)).parameters
        return ", ".join(f"{name}={defaults[name].default!r}" for name in ("max_queue", "flush_secs"))

    def log(self, items: Any, step: int) -> None:
        """One step's scalars, given as pairs."""
        writer = self.writer
        for tag, value in items:
            writer.add_scalar(tag, value, step)

    def histogram(self, tag: str, values: Any, step: int) -> None:
        """One histogram."""
        self.writer.add_histogram(tag, values, step)

    def image(self, tag: str, pixels: Any, step: int) -> None:
        """One image."""
        self.writer.add_image(tag, pixels, step, dataformats="HWC")

    def tensor(self, tag: str, values: Any, step: int) -> None:
        """One whole array."""
        self.writer.add_tensor(tag, values, step)

    def model_step(self, histograms: Any, scalars: Any, pixels: Any, step: int) -> None:
        """A step that records arrays and numbers, given as pairs, and an image."""
        for tag, values in histograms:
            self.histogram(tag, values, step)
        self.log(scalars, step)
        self.image("input", pixels, step)

    def flush(self) -> None:
        """All into the file."""
        self.writer.flush()

    def close(self) -> None:
        """All into the file, and closed."""
        self.writer.close()
