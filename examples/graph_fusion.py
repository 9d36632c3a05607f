"""The graph of a network before and after a fusion pass: a PReLU that was spelled out becomes one operation.

    python examples/graph_fusion.py [DIRECTORY]

``max(x, 0) + (-slope) * max(-x, 0)`` is what exporters make of a PReLU: Neg, Relu, Mul, Add. The pass is one of ``torch.fx``; both graphs
are recorded, both viewers show them (TensorBoard under "Tag", MindInsight under the name of the file), and the command
``summarykit show DIRECTORY --graph-diff`` lists what was replaced.
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from summarykit import SummaryRecord
from summarykit.cli import main as command


class SpelledOut(nn.Module):
    """A PReLU in four kinds of operations."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor([0.25]))

    def forward(self, x: Tensor) -> Tensor:
        """Compute it."""
        return torch.relu(x) + torch.neg(self.slope) * torch.relu(torch.neg(x))


class Network(nn.Module):
    """Two convolutions, each with such an activation."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), SpelledOut(), nn.MaxPool2d(2))
        self.second = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), SpelledOut(), nn.MaxPool2d(2))
        self.head = nn.Linear(64, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Give the scores."""
        return self.head(self.second(self.first(images)).flatten(1))


def spelled_out(x: Tensor, slope: Tensor) -> Tensor:
    """What the pass looks for."""
    return torch.relu(x) + torch.neg(slope) * torch.relu(torch.neg(x))


def fused(x: Tensor, slope: Tensor) -> Tensor:
    """What it puts in that place."""
    return functional.prelu(x, slope)


def main(directory: str) -> None:
    """Fuse, check that nothing else has changed, and record both graphs."""
    images = torch.randn(4, 1, 8, 8)
    before = fx.symbolic_trace(Network())
    after = fx.symbolic_trace(before)
    replaced = fx.replace_pattern(after, spelled_out, fused)
    assert torch.allclose(before(images), after(images), atol=1e-6)
    print(f"{len(replaced)} places fused; the scores are the same\n")
    with SummaryRecord(directory) as record:
        record.add_value("graph", "before", before, example_input=images)
        record.add_value("graph", "after", after, example_input=images)
        record.record(step=0)
    command(["show", directory, "--graph-diff", "before", "after"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
