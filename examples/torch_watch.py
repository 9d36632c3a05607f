"""A PyTorch loop that is not edited: it is watched from outside, through the hooks that PyTorch has for optimizers.

    python examples/torch_watch.py [DIRECTORY]

Handwritten digits, a small convolutional network. Recorded are loss, learning rate, gradients, parameters, input images and what the
evaluation reports; the loop itself knows nothing of it.
"""

from __future__ import annotations

import sys

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from summarykit import Run
from summarykit.integrations.torch import SummaryCollector, watch


def batches() -> tuple[DataLoader, DataLoader]:
    """Training and test data: images ``[64, 1, 8, 8]`` in [0, 1] and labels."""
    images, labels = load_digits(return_X_y=True)
    digits = TensorDataset(torch.tensor(images / 16, dtype=torch.float32).view(-1, 1, 8, 8), torch.tensor(labels))
    training, test = random_split(digits, [0.8, 0.2])
    return DataLoader(training, 64, shuffle=True), DataLoader(test, 64)


def network() -> nn.Module:
    """Two convolutions and a linear layer."""
    first, second = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
    return nn.Sequential(first, nn.ReLU(), nn.MaxPool2d(2), second, nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10))


def train_epoch(model: nn.Module, data: DataLoader, criterion: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """An epoch of training, as anyone writes it."""
    model.train()
    for images, labels in data:
        optimizer.zero_grad()
        criterion(model(images), labels).backward()
        optimizer.step()


@torch.no_grad()
def accuracy(model: nn.Module, data: DataLoader) -> float:
    """Share of the images that are recognised."""
    model.eval()
    hits = [(model(images).argmax(1) == labels).float().mean() for images, labels in data]
    return float(torch.stack(hits).mean())


def main(directory: str) -> None:
    """Train and record."""
    torch.manual_seed(0)
    torch.set_num_threads(1)    # so small a network is faster on one
    training, test = batches()
    model, criterion = network(), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    with watch(model, optimizer, SummaryCollector(directory), loss=criterion) as watching:
        for epoch in range(1, 6):
            train_epoch(model, training, criterion, optimizer)
            with watching.evaluation():
                watching.report(accuracy=accuracy(model, test))
            print(f"epoch {epoch}, step {watching.step}")
    found = Run(directory).scalars("eval/accuracy")
    print(f"recognised in the end: {found.value[-1]:.1%}; written into {directory}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
