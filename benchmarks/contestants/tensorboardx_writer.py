"""tensorboardX.SummaryWriter with default arguments, with the crc32c package, which makes it faster, and without PyTorch.

It imports torch where that is installed, for a second. It works without, so it is measured as somebody has it who did not install torch.
"""

from __future__ import annotations

import sys
from typing import Any

import crc32c  # noqa: F401  without it tensorboardX computes checksums in Python

sys.modules["torch"] = None    # type: ignore[assignment]  # from here on `import torch` fails

from tensorboardX import SummaryWriter  # noqa: E402

from contestants.style import TensorBoardStyle  # noqa: E402

summary_writer = SummaryWriter
IMPORT = "import sys; sys.modules['torch'] = None; from tensorboardX import SummaryWriter"


class Writer(TensorBoardStyle):
    """tensorboardX's."""

    def __init__(self, directory: str) -> None:
        self.writer = SummaryWriter(directory)

    def histogram_kernel(self, values: Any) -> Any:
        """A histogram in the default buckets, not written."""
        from tensorboardX.summary import make_histogram

        return make_histogram(values, self.writer.default_bins)
