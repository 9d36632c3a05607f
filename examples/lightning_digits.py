"""Lightning: a callback that records the training, and a logger for what the module logs.

    python examples/lightning_digits.py [DIRECTORY]

The callback writes into DIRECTORY, the logger into DIRECTORY/logs/version_0. The training is then taken up again from its checkpoint:
the steps go on where they ended.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lightning.pytorch as pl
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from summarykit import Run
from summarykit.integrations.lightning import SummaryCollector, SummaryLogger


class Classifier(pl.LightningModule):
    """Two layers; loss and accuracy are logged as anywhere in Lightning."""

    def __init__(self, hidden: int = 64, lr: float = 0.01) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], number: int) -> torch.Tensor:
        """Loss of a batch."""
        images, labels = batch
        return nn.functional.cross_entropy(self.layers(images), labels)

    def validation_step(self, batch: tuple[torch.Tensor, torch.Tensor], number: int) -> None:
        """Loss and accuracy of a batch."""
        images, labels = batch
        scores = self.layers(images)
        self.log("loss", nn.functional.cross_entropy(scores, labels))
        self.log("accuracy", (scores.argmax(1) == labels).float().mean())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The optimizer."""
        return torch.optim.Adam(self.parameters(), self.hparams["lr"])


def batches() -> tuple[DataLoader, DataLoader]:
    """Training and test data: images ``[64, 1, 8, 8]`` in [0, 1] and labels."""
    images, labels = load_digits(return_X_y=True)
    digits = TensorDataset(torch.tensor(images / 16, dtype=torch.float32).view(-1, 1, 8, 8), torch.tensor(labels))
    training, test = random_split(digits, [0.8, 0.2])
    return DataLoader(training, 64, shuffle=True), DataLoader(test, 64)


def trainer(directory: str, epochs: int) -> pl.Trainer:
    """Lightning's trainer with both."""
    return pl.Trainer(
        max_epochs=epochs, accelerator="cpu", default_root_dir=directory, log_every_n_steps=10, enable_progress_bar=False,
        callbacks=[SummaryCollector(directory)], logger=SummaryLogger(directory, name="logs", version=0),
    )  # fmt: skip


def main(directory: str) -> None:
    """Train, stop, go on."""
    pl.seed_everything(0)
    torch.set_num_threads(1)    # so small a network is faster on one
    training, test = batches()
    first = trainer(directory, epochs=2)
    first.fit(Classifier(), training, test)
    checkpoint = Path(directory) / "half.ckpt"
    first.save_checkpoint(checkpoint)
    trainer(directory, epochs=4).fit(Classifier(), training, test, ckpt_path=checkpoint)
    accuracy = Run(directory).scalars("eval/accuracy")
    for step, value in zip(accuracy.step, accuracy.value, strict=True):
        print(f"step {step}: {value:.1%} of the test images recognised")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
