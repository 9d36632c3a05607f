"""summarykit writing TensorBoard's format only, as most of the others do."""

from __future__ import annotations

from typing import Any, ClassVar

from contestants import ours
from contestants.ours import IMPORT, Reader
from summarykit.summary import SummaryWriter

__all__ = ["IMPORT", "Reader", "Writer", "summary_writer"]

summary_writer = SummaryWriter


class Writer(ours.Writer):
    """One format instead of two."""

    options: ClassVar[dict[str, Any]] = {"formats": ("tensorboard",)}
