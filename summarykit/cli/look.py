"""Histograms, tensors, images and other heavy values: some steps of them, described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from summarykit.cli import table
from summarykit.cli.describe import bars, describe
from summarykit.reading.series import Histograms, Series

_STEPS = 10
_BINS = 32


def show(found: Mapping[str, Series]) -> None:
    """Print, for each run, a line for some steps: the last, and as many before it, evenly spread, as make ten."""
    for run, series in found.items():
        if len(found) > 1:
            print(f"  {table.clean(run)}")
        chosen = _some(series)
        if len(chosen) < len(series):
            print(f"  {len(chosen)} of {len(series):,} points, steps {series.step[0]} … {series.step[-1]} (--last N or --json give more)")
        header, shapes = ("", [""] * len(chosen)) if not isinstance(chosen, Histograms) else _shapes(chosen)
        rows = [(str(point.step), shape, describe(point.value).line) for point, shape in zip(chosen, shapes, strict=True)]
        table.show([">step", f"<{header}", "<value"], rows, indent=2)


def facts(series: Series) -> list[Any]:
    """What is said of each value in JSON."""
    return [describe(point.value).facts for point in series]


def _some(series: Series) -> Series:
    stride = -(-len(series) // _STEPS) or 1
    return series[(len(series) - 1) % stride :: stride]


def _shapes(series: Histograms) -> tuple[str, list[str]]:
    """The histograms as rows of blocks over one range, and that range."""
    common = series.common(_BINS)
    if not len(common.edges):
        return "", [""] * len(series)
    left, right = f"{common.edges[0]:.3g}", f"{common.edges[-1]:.3g}"
    return left + right.rjust(_BINS + 2 - len(left)), [f"▕{bars(row)}▏" for row in common.counts]
