"""The loss landscape of LeNet-5 on handwritten digits, with MindSpore: its model, its data set, its metrics; our landscapes.

    python examples/landscape_lenet_mindspore.py [DIRECTORY] [POINTS]

``callback_fn`` is the one that MindSpore's own SummaryLandscape takes. ``recipe=MindSporeRecipe()`` gives MindSpore's numbers.
"""

from __future__ import annotations

import sys
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Loss, Model
from sklearn.datasets import load_digits

from summarykit import LandscapeCollector, Loop, SummaryLandscape

SAMPLES, BATCH = 320, 32


class LeNet5(nn.Cell):
    """Two convolutions and three dense layers, for images of 32×32 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(),
            nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(16 * 5 * 5, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10),
        )  # fmt: skip

    def construct(self, images: Any) -> Any:
        """Give ten scores for each image."""
        return self.layers(images)


class Digits:
    """Images, 8×8 pixels drawn out to 32×32, with their labels."""

    def __init__(self) -> None:
        images, self.labels = load_digits(return_X_y=True)
        self.images = np.kron((images / 16).astype("f4").reshape(-1, 1, 8, 8), np.ones((4, 4), "f4"))

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        return self.images[place], np.asarray(self.labels[place], "i4")


def dataset() -> Any:
    """Give them in batches."""
    return ds.GeneratorDataset(Digits(), ["image", "label"], shuffle=False).batch(BATCH)


def model() -> tuple[Model, nn.Cell, Any, dict[str, Any]]:
    """Give what a landscape is computed with: model, network, data set and metrics."""
    network, metrics = LeNet5(), {"Loss": Loss()}
    return Model(network, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), metrics=metrics), network, dataset(), metrics


def train(directory: str, points: int) -> None:
    """Train for six epochs; the weights after each one are stored."""
    ms.set_seed(1)
    network = LeNet5()
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.02, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss_fn), optimizer)
    step.set_train()
    batches = list(dataset().create_tuple_iterator(num_epochs=1))
    collector = LandscapeCollector(directory, [[1, 2, 3, 4, 5, 6]], unit="epoch", landscape_size=points, num_samples=64)
    with Loop(network, optimizer, batches, 6, collector) as loop:
        for epoch in loop.epochs():
            for images, labels in loop.steps():
                loss = step(images, labels)
                loop.report(loss=loss)
            print(f"epoch {epoch}: loss {float(loss.asnumpy()):.4f}")


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device("CPU")
    where = sys.argv[1] if len(sys.argv) > 1 else "./summary"
    train(where, int(sys.argv[2]) if len(sys.argv) > 2 else 7)
    for surface in SummaryLandscape(where).gen_landscapes_with_multi_process(model):
        print(surface, f"lowest loss {surface.z.min():.4f}, at the result {surface.convergence[2]:.4f}")
