"""Heterogeneous training: the model computes on the accelerator, the optimizer and its state live on the CPU.

    python examples/offload.py [DIRECTORY]

``OnCPU`` keeps a float32 copy of every parameter in host memory. A step sends the gradients there, updates, and sends the parameters
back: memory of the accelerator is then needed for parameters and activations only. Recorded is the model as it computes, where it
computes; a step is recorded when both halves of it are done. Without an accelerator the "accelerator" is the CPU, in bfloat16.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from summarykit import Loop, Run, SummaryCollector

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class OnCPU:
    """An optimizer whose parameters and state are in host memory."""

    def __init__(self, parameters: Iterable[nn.Parameter], make: type[torch.optim.Optimizer], **options: float) -> None:
        self._there = list(parameters)
        self._here = [nn.Parameter(parameter.detach().to("cpu", torch.float32, copy=True)) for parameter in self._there]
        self._optimizer = make(self._here, **options)
        self.param_groups = self._optimizer.param_groups    # where the learning rate is looked up

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self._there:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Send the gradients, update, send the parameters back."""
        for here, there in zip(self._here, self._there, strict=True):
            here.grad = there.grad.to("cpu", torch.float32)
        self._optimizer.step()
        for here, there in zip(self._here, self._there, strict=True):
            there.copy_(here)


def batches() -> tuple[DataLoader, DataLoader]:
    """Training and test data: images ``[64, 1, 8, 8]`` in [0, 1] and labels."""
    images, labels = load_digits(return_X_y=True)
    digits = TensorDataset(torch.tensor(images / 16, dtype=torch.float32).view(-1, 1, 8, 8), torch.tensor(labels))
    training, test = random_split(digits, [0.8, 0.2])
    return DataLoader(training, 64, shuffle=True), DataLoader(test, 64)


def main(directory: str) -> None:
    """Train and record."""
    torch.manual_seed(0)
    torch.set_num_threads(1)    # so small a network is faster on one
    training, test = batches()
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(DEVICE, torch.bfloat16)
    optimizer = OnCPU(model.parameters(), torch.optim.Adam, lr=0.01)
    with Loop(model, optimizer, training, epochs=4, callbacks=[SummaryCollector(directory)]) as loop:
        for epoch in loop.epochs():
            for images, labels in loop.steps():
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(images.to(DEVICE, torch.bfloat16)).float(), labels.to(DEVICE))
                loss.backward()
                optimizer.step()
                loop.report(loss=loss)
            with loop.evaluation(test), torch.no_grad():
                found = [model(images.to(DEVICE, torch.bfloat16)).argmax(1).cpu() == labels for images, labels in loop.steps()]
                accuracy = torch.cat(found).float().mean()
                loop.report(accuracy=accuracy)
            print(f"epoch {epoch} on {DEVICE}: {accuracy:.1%} of the test images recognised")
    print(f"histograms of {', '.join(tag for tag in Run(directory).tags()['histogram'])}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
