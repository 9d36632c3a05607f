"""What every model offers: its weights by name, and its loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from summarykit.landscape.plane import Plane
from summarykit.shapes import Array, Floats


@dataclass(frozen=True)
class Evaluation:
    """How a loss is measured.

    Attributes:
        num_samples: so many samples of the data set.
        seed: of everything random.
        training: in training mode, as MindSpore does (batch normalisation by the batch, dropout on); else in evaluation mode.
        batch_norm: statistics of batch normalisation in evaluation mode: ``"stored"``, or ``"estimated"`` anew at each point from the
            same samples.
    """

    num_samples: int = 2048
    seed: int = 0
    training: bool = False
    batch_norm: str = "stored"

    def __post_init__(self) -> None:
        if self.batch_norm not in ("stored", "estimated"):
            raise ValueError(f"batch_norm must be 'stored' or 'estimated', got {self.batch_norm!r}")


class Network:
    """The weights of a network, by name.

    Attributes:
        filter_axis: the axis that counts a layer's filters: 0 or -1.
    """

    filter_axis: ClassVar[int] = 0

    def __init__(self, network: Any) -> None:
        """Look at a network; nothing of it is copied or changed."""
        self.network = network

    @classmethod
    def owns(cls, network: Any) -> bool:
        """Whether this class knows such networks; no framework is imported to find out."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Everything that decides what it computes, running statistics too: live arrays or tensors, each once, by name."""
        raise NotImplementedError

    def trained(self) -> list[str]:
        """Names of what training moves."""
        raise NotImplementedError

    def arrays(self) -> dict[str, Array]:
        """The state as NumPy arrays, which may share its memory."""
        return {name: np.asarray(value) for name, value in self.state().items()}

    def load(self, weights: Iterable[tuple[str, Array]]) -> None:
        """Set parts of the state.

        Raises:
            ValueError: a name or shape does not fit.
        """
        raise NotImplementedError

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Put everything back afterwards, bit by bit."""
        before = {name: np.array(value) for name, value in self.arrays().items()}
        try:
            yield
        finally:
            self.load(before.items())


class LandscapeModel:
    """A network with its data and metrics. One of your own overrides ``measure`` (and gives a `Network` to the constructor).

    Attributes:
        network_type: the class of its networks.
        weights: its network.
    """

    network_type: ClassVar[type[Network]]

    def __init__(self, weights: Network) -> None:
        """Make a model of a network."""
        self.weights = weights

    def measure(self) -> Mapping[str, float]:
        """The metrics of the network as it is now, ``"Loss"`` among them, each averaged over the samples."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Be ready to measure (evaluation mode …)."""

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Put back afterwards what preparing and measuring change."""
        with self.weights.restored():
            yield

    def survey(self, plane: Plane, points: Floats) -> list[Mapping[str, float]]:
        """Measure at some points of a plane, one after the other; frameworks that can do several at once override this.

        Args:
            plane: the plane.
            points: float64, shape ``[points, 2]``.
        """
        found = []
        for x, y in points.tolist():
            self.weights.load(plane.at(x, y))
            found.append(self.measure())
        return found


def unfit(name: str, shape: Any, known: Mapping[str, Any]) -> ValueError:
    """The error of a weight that a network does not have."""
    if name in known:
        return ValueError(f"a checkpoint of another model: {name!r} has shape {tuple(shape)} there and {tuple(known[name].shape)} here")
    return ValueError(f"a checkpoint of another model: this one has no {name!r}; it has {', '.join(list(known)[:10])}")
