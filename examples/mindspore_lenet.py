"""LeNet-5 on handwritten digits with MindSpore: a script for its SummaryCollector, of which the import alone was changed.

    python examples/mindspore_lenet.py [DIRECTORY]

It was ``from mindspore.train import SummaryCollector``. The network's summary operators are MindSpore's own.
"""

from __future__ import annotations

import sys
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.train import Accuracy, Model
from sklearn.datasets import load_digits

from summarykit import Run
from summarykit.integrations.mindspore import SummaryCollector


class LeNet5(nn.Cell):
    """Two convolutions and three dense layers, for images of 32×32 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.SequentialCell(nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2))
        self.second = nn.SequentialCell(nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten())
        self.dense = nn.SequentialCell(nn.Dense(16 * 5 * 5, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10))
        self.image, self.histogram = ops.ImageSummary(), ops.HistogramSummary()

    def construct(self, images: Any) -> Any:
        """Give ten scores for each image."""
        self.image("images", images)
        maps = self.first(images)
        self.histogram("maps", maps)
        return self.dense(self.second(maps))


class Digits:
    """Images, 8×8 pixels drawn out to 32×32, with their labels."""

    def __init__(self, start: int, stop: int) -> None:
        images, labels = load_digits(return_X_y=True)
        self.images = np.kron((images[start:stop] / 16).astype("f4").reshape(-1, 1, 8, 8), np.ones((4, 4), "f4"))
        self.labels = labels[start:stop].astype("i4")

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        return self.images[place], np.asarray(self.labels[place])


def batches(start: int, stop: int) -> Any:
    """Give them in batches."""
    return ds.GeneratorDataset(Digits(start, stop), ["image", "label"], shuffle=False).batch(32)


def main(directory: str) -> None:
    """Train, and evaluate after each epoch."""
    ms.set_seed(1)
    network = LeNet5()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(network, loss, nn.Adam(network.trainable_params(), 0.003), metrics={"accuracy": Accuracy()})
    collector = SummaryCollector(directory, collect_freq=10, collect_specified_data={"histogram_regular": "^first|^second"})
    model.fit(3, batches(0, 480), batches(480, 640), callbacks=[collector])
    accuracy = Run(directory).scalars("eval/accuracy")
    for step, value in zip(accuracy.step, accuracy.value, strict=True):
        print(f"step {step}: {value:.1%} of the test images recognised")


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device("CPU")
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
