"""What the demonstration trains: a small network on real handwritten digits, in PyTorch where that is installed, else in NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from summarykit.lazy import optional
from summarykit.shapes import Array
from summarykit.training import Callback, Loop

Batch = tuple[Array, Array]
HIDDEN = 32


class Digits:
    """The 1,797 digits that scikit-learn ships, 8×8 pixels each: four fifths to train on, the rest to test.

    Attributes:
        training: batches of 64, in a new order every epoch: images float32 ``[64, 1, 8, 8]`` in [0, 1], labels int64 ``[64]``.
        test: one such batch of all test images.
    """

    def __init__(self) -> None:
        images, labels = optional("sklearn.datasets", extra="demo", purpose="the demonstration").load_digits(return_X_y=True)
        images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
        first, rest = np.split(np.random.default_rng(0).permutation(len(images)), [len(images) * 4 // 5])
        self.training = Shuffled(images[first], labels[first])
        self.test: Batch = images[rest], labels[rest]


class Shuffled:
    """Batches in an order that changes from epoch to epoch, and not from run to run."""

    def __init__(self, images: Array, labels: Array, size: int = 64) -> None:
        """Take the data; what is left over by ``size`` is not used in that epoch."""
        self._images, self._labels, self._size = images, labels, size
        self._random = np.random.default_rng(0)

    def __len__(self) -> int:
        return len(self._images) // self._size

    def __iter__(self) -> Iterator[Batch]:
        order = self._random.permutation(len(self._images))
        for chosen in order[: len(self) * self._size].reshape(len(self), self._size):
            yield self._images[chosen], self._labels[chosen]


class NumpyNetwork:
    """Two layers, the gradients by hand. ``parameters`` and ``gradients`` are all that SummaryCollector needs to see."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        self.parameters = {
            "hidden.weight": random.normal(0, 0.15, (64, HIDDEN)),
            "hidden.bias": np.zeros(HIDDEN),
            "output.weight": random.normal(0, 0.15, (HIDDEN, 10)),
            "output.bias": np.zeros(10),
        }
        self.gradients: dict[str, Array] = {}
        self.optimizer = {"learning_rate": 0.3}
        self.model = self

    def scores(self, images: Array) -> Array:
        """Give float64 ``[batch, 10]``: the larger, the likelier."""
        return self._hidden(images) @ self.parameters["output.weight"] + self.parameters["output.bias"]

    def update(self, images: Array, labels: Array) -> tuple[Any, Array]:
        """Make one step of gradient descent; gives loss and scores before it."""
        hidden, scores = self._hidden(images), self.scores(images)
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        rows = np.arange(len(labels))
        loss = -np.log(chances[rows, labels]).mean()
        chances[rows, labels] -= 1
        self._descend(images.reshape(len(images), -1), hidden, chances / len(labels))
        return loss, scores

    def _hidden(self, images: Array) -> Array:
        pixels = images.reshape(len(images), -1)
        return np.maximum(pixels @ self.parameters["hidden.weight"] + self.parameters["hidden.bias"], 0)

    def _descend(self, pixels: Array, hidden: Array, error: Array) -> None:
        back = (error @ self.parameters["output.weight"].T) * (hidden > 0)
        self.gradients = {
            "hidden.weight": pixels.T @ back,
            "hidden.bias": back.sum(0),
            "output.weight": hidden.T @ error,
            "output.bias": error.sum(0),
        }
        for name, gradient in self.gradients.items():
            self.parameters[name] -= self.optimizer["learning_rate"] * gradient


class TorchNetwork:
    """The same network in PyTorch."""

    def __init__(self) -> None:
        import torch

        torch.manual_seed(0)
        self._torch: Any = torch
        self.model = torch.nn.Sequential()
        self.model.add_module("flat", torch.nn.Flatten())
        self.model.add_module("hidden", torch.nn.Linear(64, HIDDEN))
        self.model.add_module("relu", torch.nn.ReLU())
        self.model.add_module("output", torch.nn.Linear(HIDDEN, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.3)

    def scores(self, images: Array) -> Array:
        """Give float32 ``[batch, 10]``: the larger, the likelier."""
        with self._torch.no_grad():
            found: Array = self.model(self._torch.from_numpy(images)).numpy()
        return found

    def update(self, images: Array, labels: Array) -> tuple[Any, Array]:
        """Make one step of gradient descent; gives loss and scores before it."""
        self.optimizer.zero_grad()
        scores = self.model(self._torch.from_numpy(images))
        loss = self._torch.nn.functional.cross_entropy(scores, self._torch.from_numpy(labels))
        loss.backward()
        self.optimizer.step()
        return loss, scores.detach().numpy()


Network = NumpyNetwork | TorchNetwork


def network() -> Network:
    """Make the network, in PyTorch where that is installed."""
    return TorchNetwork() if find_spec("torch") else NumpyNetwork()


def train(net: Network, digits: Digits, callbacks: Iterable[Callback] = (), epochs: int = 20) -> Loop:
    """Train a network; the loop is the user's own, the callbacks see what it reports."""
    with Loop(net.model, net.optimizer, digits.training, epochs, callbacks) as loop:
        for _ in loop.epochs():
            for images, labels in loop.steps():
                loss, scores = net.update(images, labels)
                loop.report(loss=loss, accuracy=np.mean(scores.argmax(1) == labels), scores=scores)
            with loop.evaluation():
                images, labels = digits.test
                loop.report(accuracy=np.mean(net.scores(images).argmax(1) == labels))
    return loop
