"""The loss landscape of LeNet-5 on handwritten digits, with PyTorch: collected while it trains, drawn afterwards.

    python examples/landscape_lenet.py [DIRECTORY] [POINTS]
    summarykit landscape DIRECTORY pictures

POINTS is the number of points along each axis; 40 makes a fine picture. ``device_ids=[0, 1]`` would use two processes; on another machine,
only the second half of this program is run there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

from summarykit import Loop, SummaryCollector, SummaryLandscape


class LeNet5(nn.Sequential):
    """Two convolutions and three dense layers, for images of 32×32 pixels."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(16 * 5 * 5, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
        )  # fmt: skip


def digits(size: int = 32) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Give batches of images, 8×8 pixels drawn out to 32×32, and labels."""
    images, labels = load_digits(return_X_y=True)
    images = np.kron((images / 16).astype("f4").reshape(-1, 1, 8, 8), np.ones((4, 4), "f4"))
    for start in range(0, 640, size):
        yield torch.from_numpy(images[start : start + size]), torch.from_numpy(labels[start : start + size])


def train(directory: str, points: int) -> None:
    """Train for six epochs; the weights after each one are stored."""
    torch.manual_seed(0)
    net = LeNet5()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    landscape = {"unit": "epoch", "intervals": [[1, 2, 3, 4, 5, 6]], "landscape_size": points, "num_samples": 128}
    collector = SummaryCollector(directory, collect_specified_data={"collect_landscape": landscape})
    with Loop(net, optimizer, list(digits()), 6, collector) as loop:
        for epoch in loop.epochs():
            for images, labels in loop.steps():
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(net(images), labels)
                loss.backward()
                optimizer.step()
                loop.report(loss=loss)
            print(f"epoch {epoch}: loss {loss.item():.4f}")


def model() -> tuple[object, nn.Module, Iterator[tuple[torch.Tensor, torch.Tensor]], dict[str, object]]:
    """Give what a landscape is computed with; its weights come from the checkpoints."""
    net = LeNet5()
    metrics = {"Loss": nn.CrossEntropyLoss(), "Accuracy": lambda outputs, labels: (outputs.argmax(1) == labels).float().mean()}
    return net, net, digits(), metrics


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "./summary"
    train(where, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    for surface in SummaryLandscape(where).gen_landscapes_with_multi_process(model):
        print(surface, f"lowest loss {surface.z.min():.4f}, at the result {surface.convergence[2]:.4f}")
