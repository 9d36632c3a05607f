"""A writer that writes nothing (``write_to_disk=False``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from summarykit.writing import Batch, Writer


class Nowhere(Writer):
    """Takes everything, keeps nothing: no directory, no file, no thread."""

    def put(self, flat: Sequence[Any], batches: Sequence[Batch] = ()) -> bool:
        """Forget it."""
        return True
