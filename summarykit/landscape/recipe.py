"""How directions are made: which parameters take part, and what a step along a direction is worth to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from summarykit.landscape.weights import Weights
from summarykit.shapes import Array, Floats

Scale = Callable[[Array, Array, int], Array | float]
"""Told a direction, the weights and the filters' axis: what to multiply the direction by."""


def untouched(direction: Array, weights: Array, axis: int) -> float:
    """As it is."""
    return 1.0


def nothing(direction: Array, weights: Array, axis: int) -> float:
    """Not moved at all."""
    return 0.0


def per_layer(direction: Array, weights: Array, axis: int) -> float:
    """The norm of the weights, of the whole parameter at once; a direction of norm 0 stays 0."""
    norm = float(np.sqrt(_squares(direction)))
    return float(np.sqrt(_squares(weights))) / norm if norm > 0 else 0.0


def per_filter(direction: Array, weights: Array, axis: int) -> Array:
    """The norm of the weights, filter by filter; filters of norm 0 are not moved.

    Li, Xu, Taylor, Studer, Goldstein: Visualizing the Loss Landscape of Neural Nets. NeurIPS 2018, section 4.
    """
    norms, wanted = _filter_norms(direction, axis), _filter_norms(weights, axis)
    scale = np.divide(wanted, norms, out=np.zeros_like(norms), where=norms > 0)
    shape = [1] * direction.ndim
    shape[axis] = -1
    return scale.reshape(shape)


def _squares(data: Array) -> float:
    return float(np.einsum("i,i->", data.reshape(-1), data.reshape(-1), dtype=np.float64, casting="same_kind"))


def _filter_norms(data: Array, axis: int) -> Floats:
    """Of each filter: those of torch and MindSpore lie along axis 0, those of Keras and JAX along axis -1."""
    rows = data.reshape(data.shape[0], -1) if axis == 0 else data.reshape(-1, data.shape[-1])
    terms = "ij,ij->i" if axis == 0 else "ij,ij->j"
    return np.sqrt(np.einsum(terms, rows, rows, dtype=np.float64, casting="same_kind"))


_NOTHING = 1e-14    # of the largest eigenvalue: what rounding leaves of 0
NORMALISATIONS = ("none", "filter", "layer")
SCALES: dict[str, Scale] = {"none": untouched, "filter": per_filter, "layer": per_layer, "zero": nothing}


@dataclass(frozen=True)
class Scatter:
    """How checkpoints lie to one another, seen from the last.

    Attributes:
        products: float64, shape ``[checkpoints, checkpoints]``: dot products of their moves.
        sums: float64, shape ``[checkpoints]``: sums of the entries of their moves.
        size: entries of a move.
    """

    products: Floats
    sums: Floats
    size: int


@dataclass(frozen=True)
class Combination:
    """Directions as combinations of the moves.

    Attributes:
        factors: float64, shape ``[directions, checkpoints]``; as many directions as the checkpoints span, two at most.
        offsets: float64, shape ``[directions]``: to be added to each entry.
        shares: of the variance along each, in [0, 1].
    """

    factors: Floats
    offsets: Floats
    shares: tuple[float, ...]


class _Eigen(NamedTuple):
    values: Floats
    vectors: Floats
    shares: tuple[float, ...]


def _eigen(products: Floats) -> _Eigen:
    """The two largest eigenvalues, as far as they are not 0, with their vectors in columns."""
    values, vectors = np.linalg.eigh(products)
    values, vectors = values[::-1][:2], vectors[:, ::-1][:, :2]
    kept = values > max(values[0], 0) * _NOTHING
    total = float(np.trace(products))
    return _Eigen(values[kept], vectors[:, kept], tuple((values[kept] / total).tolist()) if kept.any() else ())


@dataclass(frozen=True)
class Recipe:
    """How the directions of a plane are made.

    Attributes:
        path: normalisation of directions found by PCA: ``"none"``, ``"filter"`` or ``"layer"``.
        random: normalisation of random directions.
        vectors: what becomes of parameters of one axis or none in a normalised direction (biases, the scales of batch normalisation):
            ``"zero"`` (they are not moved: Li et al. 2018) or ``"layer"``.
        seed: of random directions and of everything random in an evaluation.
    """

    path: str = "none"
    random: str = "filter"
    vectors: str = "zero"
    seed: int = 0

    training: ClassVar[bool] = False
    """Whether losses are measured in training mode."""

    def __post_init__(self) -> None:
        for name, allowed in (("path", NORMALISATIONS), ("random", NORMALISATIONS), ("vectors", ("zero", "layer"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {getattr(self, name)!r}")

    def parameters(self, weights: Weights) -> list[str]:
        """The parameters that a direction may move: floats that are trained, as far as the file tells."""
        told = weights.told.get("parameters")
        names = weights.places if told is None else told
        return [name for name in names if weights.places[name].is_float and (told is not None or _trained(name))]

    def principal(self, scatter: Scatter) -> Combination:
        """The first two principal directions of the checkpoints, each of norm 1; the first checkpoint lies to the left and below."""
        count = len(scatter.products)
        middle = np.eye(count) - 1 / count
        found = _eigen(middle @ scatter.products @ middle)
        factors = middle @ found.vectors / np.sqrt(found.values)
        factors *= np.where(scatter.products[0] @ factors > 0, -1, 1)
        return Combination(factors.T, np.zeros(len(found.values)), found.shares)

    def signs(self, extremes: Floats) -> Floats:
        """Which way directions point, told their entries of largest size; 1: as they were combined."""
        return np.ones(len(extremes))

    def noise(self, weights: Weights, names: list[str]) -> Iterator[tuple[str, int, Array]]:
        """Two random directions: name, which one, and independent normal numbers, of the parameter's shape."""
        for place, name in enumerate(names):
            for which in (0, 1):
                random = np.random.default_rng([self.seed, place, which])
                yield name, which, random.standard_normal(weights.places[name].shape)

    def scale(self, normalise: str, direction: Array, weights: Array, axis: int) -> Array | float:
        """What to multiply one parameter's direction by."""
        if normalise != "none" and weights.ndim <= 1:
            return SCALES[self.vectors](direction, weights, axis)
        return SCALES[normalise](direction, weights, axis)


class MindSporeRecipe(Recipe):
    """MindSpore's rules: parameters with "weight" or "bias" in their names, scaled per layer; where MindSpore divides by 0, 0."""

    training = True

    def __init__(self, seed: int = 0) -> None:
        super().__init__(path="layer", random="layer", vectors="layer", seed=seed)

    def parameters(self, weights: Weights) -> list[str]:
        """See `Recipe.parameters`."""
        return [name for name in weights.places if ("weight" in name or "bias" in name) and "moment" not in name]


    def principal(self, scatter: Scatter) -> Combination:
        """The left singular vectors of the moves to the last checkpoint, each move less the mean of its entries."""
        sums = scatter.sums[:-1]
        found = _eigen(scatter.products[:-1, :-1] - np.outer(sums, sums) / scatter.size)
        factors = np.vstack([found.vectors / np.sqrt(found.values), np.zeros(len(found.values))])
        return Combination(factors.T, -(scatter.sums / scatter.size) @ factors, found.shares)

    def signs(self, extremes: Floats) -> Floats:
        """See `Recipe.signs`: the entry of largest size is positive."""
        return np.where(extremes < 0, -1.0, 1.0)

    def noise(self, weights: Weights, names: list[str]) -> Iterator[tuple[str, int, Array]]:
        """See `Recipe.noise`: NumPy's old generator, all entries of the first direction before those of the second."""
        random = np.random.RandomState(self.seed)
        for which in (0, 1):
            for name, place in weights.places.items():
                yield name, which, random.normal(size=place.shape)


def _trained(name: str) -> bool:
    """For checkpoints that do not tell what is trained: running statistics and an optimizer's moments are not."""
    return not any(part in name for part in ("moment", "moving_", "running_", "num_batches_tracked", "global_step", "learning_rate"))
