"""tensorboardX.SummaryWriter with default arguments, and with the crc32c package, which it takes where it is installed."""

from __future__ import annotations

from typing import Any

import crc32c  # noqa: F401  without it tensorboardX computes checksums in Python
from tensorboardX import SummaryWriter

from contestants.style import TensorBoardStyle

IMPORT = "from tensorboardX import SummaryWriter"


class Writer(TensorBoardStyle):
    """tensorboardX's."""

    def __init__(self, directory: str) -> None:
        self.writer = SummaryWriter(directory)

    def histogram_kernel(self, values: Any) -> Any:
        """A histogram in the default buckets, not written."""
        from tensorboardX.summary import make_histogram

        return make_histogram(values, self.writer.default_bins)
