"""Gradient accumulation: four micro-batches make one optimizer update, and one step of what is recorded.

    python examples/accumulation.py [DIRECTORY]

The loop asks ``loop.update_due`` when to update. Beside each step the collector writes down how many micro-batches had run: ``micro_step``.
"""

from __future__ import annotations

import sys

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from summarykit import Loop, Run, SummaryCollector

ACCUMULATION = 4


def main(directory: str) -> None:
    """Train and record."""
    torch.manual_seed(0)
    torch.set_num_threads(1)    # so small a network is faster on one
    images, labels = load_digits(return_X_y=True)
    digits = TensorDataset(torch.tensor(images / 16, dtype=torch.float32).view(-1, 1, 8, 8), torch.tensor(labels))
    micro_batches = DataLoader(digits, 16, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    collector = SummaryCollector(directory, collect_freq=5)
    with Loop(model, optimizer, micro_batches, epochs=4, callbacks=collector, accumulation=ACCUMULATION) as loop:
        for _ in loop.epochs():
            losses: list[torch.Tensor] = []
            for pixels, digit in loop.steps():
                if not losses:
                    optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(pixels), digit)
                (loss / ACCUMULATION).backward()
                losses.append(loss.detach())
                if loop.update_due:
                    optimizer.step()
                    loop.report(loss=torch.stack(losses).mean())    # of the whole step
                    losses.clear()
    run = Run(directory)
    loss, micro_step = run.scalars("loss"), run.scalars("micro_step")
    for step, value, count in zip(loss.step, loss.value, micro_step.value, strict=True):
        print(f"step {step}, after {count:g} micro-batches: loss {value:.3f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
