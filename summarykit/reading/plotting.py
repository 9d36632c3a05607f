"""Pictures of loss surfaces, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit import lazy
from summarykit.shapes import Array, Floats, LossLandscape, LossPath


def plot(surface: LossLandscape, ax: Any, levels: int) -> Any:
    """Draw a surface; see `LossSurface.plot`."""
    if ax is None:
        figure = lazy.optional("matplotlib.figure", extra="plot", purpose="LossSurface.plot()")
        ax = figure.Figure(figsize=(7, 5.5), layout="constrained").subplots()
    if min(surface.z.shape) == 1:
        return _curve(surface, ax)
    z, bounds = clipped(surface.z)
    filled = ax.contourf(surface.x, surface.y, z, np.linspace(*bounds, levels + 1), cmap="viridis", extend="max")
    lines = bounds[0] + (bounds[1] - bounds[0]) * np.linspace(0, 1, levels // 2 + 1)[1:] ** 2    # closer near the lowest
    ax.contour(surface.x, surface.y, z, lines, colors="white", linewidths=0.4, alpha=0.6)
    ax.figure.colorbar(filled, ax=ax, label="loss")
    if surface.path is not None:
        _path(surface.path, surface.unit, ax)
    if surface.convergence is not None:
        ax.plot(*surface.convergence[:2], "*", color="white", markeredgecolor="black", markersize=13, label="result")
    return _labelled(surface, ax)


def clipped(z: Floats) -> tuple[Array, tuple[float, float]]:
    """Losses for a picture: masked where not finite, and cut where they are far above the rest.

    The cut is at the upper quartile plus six times the range between the quartiles: a wall that training never saw must not take
    all the colours.

    Returns:
        A masked array, and the smallest and the largest value to draw.
    """
    masked = np.ma.masked_invalid(z)
    finite = masked.compressed()
    if not finite.size:
        return masked, (0.0, 1.0)
    low, lower, upper, high = np.quantile(finite, [0, 0.25, 0.75, 1]).tolist()
    top = min(high, upper + 6 * (upper - lower)) if upper > lower else high
    if not low < top:
        low, top = low - 0.5, top + 0.5
    return np.ma.minimum(masked, top), (low, top)


def _path(path: LossPath, unit: str, ax: Any) -> None:
    ax.plot(path.x, path.y, "o-", color="orangered", linewidth=1.5, markersize=3.5, label=f"training, {unit} by {unit}")
    for place in (0, -1):
        ax.annotate(str(path.steps[place]), (path.x[place], path.y[place]), (5, 5), textcoords="offset points", color="white", fontsize=9)


def _curve(surface: LossLandscape, ax: Any) -> Any:
    ax.plot(surface.x, surface.z.ravel(), "-")
    for name, grid in surface.metrics.items():
        ax.plot(surface.x, grid.ravel(), "--", label=name)
    ax.set(xlabel="from the first checkpoint (0) to the second (1)", ylabel="loss")
    if surface.metrics:
        ax.legend(loc="best")
    return ax


def _labelled(surface: LossLandscape, ax: Any) -> Any:
    shares = [f" ({share:.1%} of the variance)" for share in surface.explained_variance] or ["", ""]
    ax.set(xlabel=f"direction 1{shares[0]}", ylabel=f"direction 2{shares[-1]}", title=f"loss, {surface.decomposition} directions")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best", fontsize=8)
    return ax
