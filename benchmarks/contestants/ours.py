"""summarykit with default arguments: both formats."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from contestants.style import Plain
from summarykit.summary import SummaryRecord

if TYPE_CHECKING:
    from summarykit.summary import SummaryWriter

IMPORT = "from summarykit.summary import SummaryRecord"


def summary_writer(directory: str, formats: tuple[str, ...] = ("mindspore", "tensorboard")) -> SummaryWriter:
    """The class in the shape of the others'."""
    from summarykit.summary import SummaryWriter  # who has the other class does not import it

    return SummaryWriter(directory, formats=formats)


class Writer(Plain):
    """``add_value`` for each value, ``record`` for each step."""

    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, directory: str) -> None:
        self.record = SummaryRecord(directory, **self.options)

    def settings(self) -> str:
        """What decides when values reach the file."""
        defaults = inspect.signature(SummaryRecord).parameters
        return ", ".join(f"{name}={self.options.get(name, defaults[name].default)!r}" for name in ("formats", "flush_secs"))

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

    def histogram_kernel(self, values: Any) -> Any:
        """A histogram, not written."""
        from summarykit.kinds.histogram import histogram

        return histogram(values)

    def compressor(self, pixels: Any) -> Callable[[], Any]:
        """The compressor's own call for an image whose rows are filtered already: the machine's limit."""
        from summarykit.kinds.png import compressor, filtered

        module, settings = compressor()
        rows = filtered(pixels).data
        return lambda: module.compress(rows, **settings)

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
        """All into the file, and closed; whoever drops is not faster, so that is an error here."""
        self.record.close(timeout=60.0)
        dropped = self.record.stats()["dropped"]
        if dropped:
            raise RuntimeError(f"dropped: {dropped}")


class Reader:
    """``Run``: every point, every checksum."""

    def count(self, directory: str, tags: list[str]) -> int:
        """Read all scalars below a directory; the number of points."""
        from summarykit.reading import Run

        run = Run(directory)
        return sum(len(run.scalars(tag)) for tag in tags)
