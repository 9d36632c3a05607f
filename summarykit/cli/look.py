"""Histograms, tensors, images and other heavy values: some steps of them, described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from summarykit.cli import spell, table
from summarykit.cli.describe import bars, describe
from summarykit.reading.series import Histograms, Series

_STEPS = 10
_BINS = 32


def show(found: Mapping[str, Series]) -> None:
    """Print a line for some steps of each run: the last, and as many before it, evenly spread, as make ten."""
    chosen = {run: _some(series) for run, series in found.items()}
    shown, every = sum(map(len, chosen.values())), sum(map(len, found.values()))
    if shown < every:
        print(f"  {shown:,} of {every:,} points (--last N or --json give more)")
    histograms = {run: series for run, series in chosen.items() if isinstance(series, Histograms)}
    if not histograms:
        several = len(found) > 1
        rows = [(run if several else "", str(point.step), describe(point.value).line) for run, series in chosen.items() for point in series]
        table.show(("<run", ">step", "~value"), rows, indent=2)
    for run, series in histograms.items():
        _show_histograms(run if len(found) > 1 else "", series)


def _show_histograms(run: str, series: Histograms) -> None:
    """A table with a row of blocks for each histogram, all over one range."""
    common = series.common(_BINS)
    edges = common.edges
    title = "" if not len(edges) else f"{spell.short(float(edges[0]))} … {spell.short(float(edges[-1]))}".center(_BINS + 2).rstrip()
    shapes = [f"▕{bars(row)}▏" if len(row) else "" for row in common.counts]
    rows = [(run, str(point.step), shape, describe(point.value).line) for point, shape in zip(series, shapes, strict=True)]
    table.show(("<run", ">step", f"<{title}", "~value"), rows, indent=2)


def facts(series: Series) -> list[Any]:
    """What is said of each value in JSON."""
    return [describe(point.value).facts for point in series]


def _some(series: Series) -> Series:
    stride = -(-len(series) // _STEPS) or 1
    return series[(len(series) - 1) % stride :: stride]
