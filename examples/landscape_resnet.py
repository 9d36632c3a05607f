"""Batch normalisation and loss landscapes: a small residual network, measured with stored and with estimated statistics.

    python examples/landscape_resnet.py [DIRECTORY] [POINTS]

Away from the weights that were trained, the running statistics of batch normalisation no longer fit what the layers give. With
``batch_norm="estimated"`` they are taken anew at each point, from the samples that the loss is averaged over.
"""

from __future__ import annotations

import sys

import torch
from sklearn.datasets import load_digits
from torch import nn

from summarykit import LandscapeCollector, Loop, SummaryLandscape


class Residual(nn.Module):
    """Two convolutions, each with batch normalisation, and a way around them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        layers = [nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)]
        more = [nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)]
        self.layers = nn.Sequential(*layers, nn.ReLU(), *more)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Give the sum of both ways."""
        return torch.relu(values + self.layers(values))


def network() -> nn.Module:
    """Make the network."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), Residual(8), nn.MaxPool2d(2), Residual(8), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(8, 10),
    )  # fmt: skip


images, labels = load_digits(return_X_y=True)
images, labels = torch.tensor(images / 16, dtype=torch.float32).reshape(-1, 1, 8, 8), torch.tensor(labels)
BATCHES = list(zip(images.split(64), labels.split(64), strict=True))


def train(directory: str, points: int) -> None:
    """Train for four epochs; the weights after each one are stored."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    collector = LandscapeCollector(directory, [[1, 2, 3, 4]], unit="epoch", landscape_size=points, num_samples=256)
    with Loop(net, optimizer, BATCHES, 4, collector) as loop:
        for epoch in loop.epochs():
            for batch, target in loop.steps():
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(net(batch), target)
                loss.backward()
                optimizer.step()
            print(f"epoch {epoch}: loss {loss.item():.4f}")


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "./summary"
    train(where, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    net = network()
    for statistics in ("stored", "estimated"):
        found = SummaryLandscape(where).gen_landscapes_with_multi_process(
            lambda: (net, net, BATCHES, {"Loss": nn.CrossEntropyLoss()}), batch_norm=statistics, output=f"{where}/{statistics}"
        )
        for surface in found:
            print(f"{statistics} statistics: {surface}, loss {surface.z.min():.3f} … {surface.z.max():.3f}")
