"""torch.utils.tensorboard.SummaryWriter with default arguments."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.tensorboard import SummaryWriter

from contestants.style import TensorBoardStyle

summary_writer = SummaryWriter
IMPORT = "from torch.utils.tensorboard import SummaryWriter"


class Writer(TensorBoardStyle):
    """PyTorch's."""

    def __init__(self, directory: str) -> None:
        self.writer = SummaryWriter(directory)

    def tensor(self, tag: str, values: Any, step: int) -> None:
        """One whole array; it takes tensors only."""
        self.writer.add_tensor(tag, torch.from_numpy(values), step)

    def histogram_kernel(self, values: Any) -> Any:
        """A histogram in the default buckets, not written."""
        from torch.utils.tensorboard.summary import make_histogram

        return make_histogram(values, self.writer.default_bins)
