"""summarykit writing TensorBoard's format only, as most of the others do."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from contestants import ours
from contestants.ours import IMPORT, Reader

__all__ = ["IMPORT", "Reader", "Writer", "summary_writer"]

summary_writer = partial(ours.summary_writer, formats=("tensorboard",))


class Writer(ours.Writer):
    """One format instead of two."""

    options: ClassVar[dict[str, Any]] = {"formats": ("tensorboard",)}
