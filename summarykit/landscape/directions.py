"""Finds the directions of a plane: along the path of a training, at random, or from one checkpoint to another."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.landscape.plane import CENTRE, FIRST, SECOND, Plane, lay_out
from summarykit.landscape.recipe import Combination, Recipe, Scatter
from summarykit.landscape.trajectory import Trajectory
from summarykit.landscape.weights import Weights
from summarykit.shapes import Array, Floats

Directions = tuple[dict[str, Array], dict[str, Array]]


@dataclass(frozen=True)
class Laid:
    """What is known of a plane.

    Attributes:
        path: float64, shape ``[checkpoints, 2]``: where the checkpoints lie in it.
        shares: of the path's variance along each principal direction, before normalisation.
    """

    path: Floats
    shares: tuple[float, ...] = ()


def along_path(trajectory: Trajectory, recipe: Recipe, file: Path) -> Laid:
    """A plane around the last of some checkpoints, along the principal directions of all of them.

    The directions are combinations of the checkpoints, and their factors eigenvectors of the matrix of dot products: that is as exact as a
    singular value decomposition for the directions in which training moved at all, and needs no more memory than a piece of each file.

    Raises:
        OSError: a checkpoint cannot be read, or the plane not written.
        ValueError: nothing can be moved.
    """
    names = _movable(trajectory.last, recipe)
    scatter = _scatter(trajectory, names)
    found = recipe.principal(scatter)

    def fill(directions: Directions) -> None:
        """Write the directions into their memory."""
        extremes = _combine(trajectory, names, found, directions)
        _fill_up(directions, recipe, trajectory.last, names, len(found.shares))
        signs = [*recipe.signs(extremes), 1.0, 1.0]
        _normalise(directions, trajectory.last, recipe, recipe.path, signs)

    plane = _make(file, trajectory.last, names, fill)
    if recipe.path == "none":    # the directions are orthonormal combinations of the moves
        path = np.zeros((len(trajectory.checkpoints), 2))
        path[:, : len(found.shares)] = scatter.products @ found.factors.T
        return Laid(path, found.shares)
    return Laid(_coordinates(trajectory, plane, names), found.shares)


def at_random(centre: Weights, recipe: Recipe, file: Path) -> Laid:
    """A plane around a checkpoint, along two random directions.

    Raises:
        OSError: the checkpoint cannot be read, or the plane not written.
        ValueError: nothing can be moved.
    """
    names = _movable(centre, recipe)

    def fill(directions: Directions) -> None:
        """Write the directions into their memory."""
        for name, which, noise in recipe.noise(centre, names):
            if name in directions[which]:
                directions[which][name][...] = noise
        _normalise(directions, centre, recipe, recipe.random, [1.0, 1.0])

    _make(file, centre, names, fill)
    return Laid(np.zeros((0, 2)))


def between(trajectory: Trajectory, recipe: Recipe, file: Path) -> Laid:
    """The line from the last checkpoint (x = 0) to the first (x = 1): running statistics too go from one to the other.

    Raises:
        OSError: a checkpoint cannot be read, or the plane not written.
    """
    names = [name for name, place in trajectory.last.places.items() if place.is_float]

    def fill(directions: Directions) -> None:
        """Write the directions into their memory."""
        for piece in trajectory.pieces(names):
            _part(directions[0], piece.name, piece.start, piece.moved.shape[1])[:] = piece.moved[0]

    _make(file, trajectory.last, names, fill)
    return Laid(np.zeros((0, 2)))


def _movable(weights: Weights, recipe: Recipe) -> list[str]:
    names = recipe.parameters(weights)
    if not names:
        raise ValueError(f"{weights.file}: none of its {len(weights.places)} arrays is a parameter that can be moved")
    return names


def _make(file: Path, centre: Weights, names: list[str], fill: Callable[[Directions], None]) -> Plane:
    """Fill a plane beside its place, then put it there: a plane that is there is whole."""
    beside = file.with_name(f".{file.name}.{os.getpid()}.part")
    told = {"filter_axis": _filter_axis(centre.told)}
    try:
        prefixes = lay_out(beside, centre, names, told)
        fill((prefixes[FIRST], prefixes[SECOND]))
        assert prefixes[CENTRE].keys() == centre.places.keys()
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
    return Plane(file)


def _filter_axis(told: Mapping[str, Any]) -> int:
    return -1 if told.get("filter_axis") == -1 else 0


def _scatter(trajectory: Trajectory, names: list[str]) -> Scatter:
    count = len(trajectory.checkpoints)
    products, sums, size = np.zeros((count, count)), np.zeros(count), 0
    for piece in trajectory.pieces(names):
        products += piece.moved @ piece.moved.T
        sums += piece.moved.sum(axis=1, dtype=np.float64)
        size += piece.moved.shape[1]
    return Scatter(products, sums, size)


def _combine(trajectory: Trajectory, names: list[str], found: Combination, directions: Directions) -> Floats:
    """Put the combinations into the directions; gives the entry of largest size of each."""
    extremes = np.zeros(len(found.factors))
    for piece in trajectory.pieces(names):
        factors, offsets = found.factors.astype(piece.moved.dtype), found.offsets.astype(piece.moved.dtype)
        for which, values in enumerate(factors @ piece.moved + offsets[:, None]):
            _part(directions[which], piece.name, piece.start, len(values))[:] = values
            largest = values[np.argmax(np.abs(values))] if len(values) else 0.0
            extremes[which] = max(extremes[which], largest, key=abs)
    return extremes


def _fill_up(directions: Directions, recipe: Recipe, centre: Weights, names: list[str], known: int) -> None:
    """Where the checkpoints lie on a line, or all in one point: random directions of norm 1, across the known one."""
    for name, which, noise in recipe.noise(centre, names) if known < len(directions) else ():
        if which >= known and name in directions[which]:
            directions[which][name][...] = noise
    for which in range(known, 2):
        for before in directions[:which]:
            _add(directions[which], before, -_dot(directions[which], before) / max(_dot(before, before), 1e-300))
        _scale(directions[which], 1 / max(np.sqrt(_dot(directions[which], directions[which])), 1e-300))


def _normalise(directions: Directions, centre: Weights, recipe: Recipe, how: str, signs: list[float]) -> None:
    axis = _filter_axis(centre.told)
    for direction, sign in zip(directions, signs, strict=False):
        for name, values in direction.items():
            values *= sign * recipe.scale(how, values, centre.array(name).astype(values.dtype, copy=False), axis)


def _coordinates(trajectory: Trajectory, plane: Plane, names: list[str]) -> Floats:
    """Where the checkpoints lie, by least squares."""
    first, second = plane.directions
    across, along = np.zeros((2, 2)), np.zeros((2, len(trajectory.checkpoints)))
    for piece in trajectory.pieces(names):
        length = piece.moved.shape[1]
        both = np.stack([_part(direction, piece.name, piece.start, length) for direction in (first, second)]).astype(np.float64)
        across += both @ both.T
        along += both @ piece.moved.T
    return np.linalg.lstsq(across, along, rcond=None)[0].T


def _part(arrays: Mapping[str, Array], name: str, start: int, length: int) -> Array:
    return arrays[name].reshape(-1)[start : start + length]


def _dot(left: Mapping[str, Array], right: Mapping[str, Array]) -> float:
    pairs = ((left[name].reshape(-1), right[name].reshape(-1)) for name in left)
    return float(sum(np.einsum("i,i->", *pair, dtype=np.float64, casting="same_kind") for pair in pairs))


def _add(target: Mapping[str, Array], other: Mapping[str, Array], factor: float) -> None:
    for name, values in target.items():
        values += values.dtype.type(factor) * other[name]


def _scale(target: Mapping[str, Array], factor: float) -> None:
    for values in target.values():
        values *= values.dtype.type(factor)
