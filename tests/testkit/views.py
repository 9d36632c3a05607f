"""What the viewers' documents say, brought to one form: ``{(kind, tag): {step: value}}``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from summarykit import Run

View = dict[tuple[str, str], dict[int, Any]]


def number(value: float | str | None) -> float:
    """A number of a document; the clients spell NaN and infinities, MindInsight's server has null for all of them."""
    return math.nan if value is None else float(value)


def spelled(value: float) -> float | str:
    """A number as the clients spell it."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def digest(values: np.ndarray, show: Any) -> str:
    """The clients' digest of an array: SHA-256 over its numbers as decimal text, ``show`` being str or repr."""
    return hashlib.sha256(",".join(show(spelled(float(v))) for v in values.ravel()).encode()).hexdigest()


def mindinsight(document: dict[str, Any], run: str = "./") -> View:
    """MindInsight adds the kind to each tag: ``loss/scalar``."""
    plugins = document["train_jobs"][run]["plugins"]
    return {
        (kind, tag.removesuffix(f"/{kind}")): _by_step(points)
        for kind in ("scalar", "histogram", "image", "tensor")
        for tag, points in plugins.get(kind, {}).items()
    }


def tensorboard(document: dict[str, Any], run: str = ".") -> View:
    kinds = {"scalars": "scalar", "histograms": "histogram", "images": "image", "tensor": "tensor"}
    plugins = document["runs"][run]["plugins"]
    return {
        (kind, tag): _by_step(entry["points"]) for plugin, kind in kinds.items() for tag, entry in plugins.get(plugin, {}).items()
    }


def _by_step(points: Iterable[dict[str, Any]]) -> dict[int, Any]:
    rows = {point["step"]: point for point in points}
    assert len(rows) == len(list(points)), "a step is shown twice"
    return rows


def steps(view: View) -> dict[tuple[str, str], list[int]]:
    return {series: sorted(points) for series, points in view.items()}


def expect_scalars(run: Run, view: View) -> None:
    """All scalars of a run are shown, with all steps, times and values (in MindInsight's and TensorBoard's 32 bits)."""
    shown = {tag: points for (kind, tag), points in view.items() if kind == "scalar"}
    assert shown.keys() == set(run.tags()["scalar"])
    for tag, points in shown.items():
        ours = run.scalars(tag)
        steps = ours.step.tolist()
        assert steps == sorted(points)
        np.testing.assert_array_equal([number(points[step]["value"]) for step in steps], ours.value.astype("f4").astype("f8"))
        np.testing.assert_array_equal([points[step]["wall_time"] for step in steps], ours.wall_time)
