"""Scalars of one tag in several runs, side by side."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping

import numpy as np

from summarykit.cli import spell, table
from summarykit.cli.describe import bars
from summarykit.reading.series import Scalars
from summarykit.shapes import Floats

_HEADER = ("<run", "?>points", ">last step", ">last", ">min", ">at step", ">max", ">at step", "?>mean", ">not finite", "?<curve")
_CURVE = 20


def runs(found: Mapping[str, Scalars]) -> None:
    """Print a line for each run."""
    table.show(_HEADER, [_row(run if len(found) > 1 else "", series) for run, series in found.items()], indent=2)


def steps(found: Mapping[str, Scalars], last: int) -> None:
    """Print a line for each of the last steps, a column for each run; as many tables as the terminal is too narrow for."""
    every = np.unique(np.concatenate([series.step for series in found.values()]))[-last:]
    columns = {run: _at(series, every) for run, series in found.items()}
    for names in _blocks(columns, len(str(every.max(initial=0)))):
        rows = zip(map(str, every.tolist()), *(columns[name] for name in names), strict=True)
        table.show([">step", *(f">{table.shorten(table.clean(name), 24)}" for name in names)], rows, indent=2)


def curve(series: Scalars) -> str:
    """The values over the steps as a row of blocks, from the smallest to the largest; a blank where all are NaN."""
    pieces = np.array_split(series.value, min(_CURVE, len(series)))
    means = np.array([_mean(piece) for piece in pieces])
    low, high = np.nanmin(means, initial=math.inf), np.nanmax(means, initial=-math.inf)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        heights = (means / 8 - low / 8) / (high / 8 - low / 8) if high > low else np.where(np.isnan(means), means, 0.5)
    return bars(np.append(np.maximum(heights, 1e-9), 1))[:-1]


def _row(run: str, series: Scalars) -> list[str]:
    values, finite = series.value, np.flatnonzero(np.isfinite(series.value))
    row = [run, f"{len(series):,}", str(series.step.max()) if len(series) else "", spell.number(float(values[-1])) if len(series) else ""]
    if not len(finite):
        return [*row, "", "", "", "", "", spell.count(len(series)), ""]
    low, high = finite[np.argmin(values[finite])], finite[np.argmax(values[finite])]
    extremes = [text for place in (low, high) for text in (spell.number(float(values[place])), str(series.step[place]))]
    return [*row, *extremes, spell.number(_mean(values)), spell.count(len(values) - len(finite)), curve(series)]


def _mean(values: Floats) -> float:
    """Of the finite values; NaN where there is none. Halves are added, as the sum may exceed the largest float."""
    finite = values[np.isfinite(values)]
    return math.nan if not len(finite) else float((finite / len(finite)).sum())


def _at(series: Scalars, every: object) -> list[str]:
    values = dict(zip(series.step.tolist(), series.value.tolist(), strict=True))
    return [spell.number(values[step]) if step in values else "-" for step in np.asarray(every).tolist()]


def _blocks(columns: Mapping[str, list[str]], first: int) -> Iterator[list[str]]:
    """The runs, as many at a time as fit into the terminal."""
    limit = table.terminal_width() - 2 if sys.stdout.isatty() else 1 << 30
    block: list[str] = []
    room = limit - max(first, 4)
    for name, cells in columns.items():
        width = 2 + max(map(table.width_of, [table.shorten(table.clean(name), 24), *cells]))
        if block and width > room:
            yield block
            block, room = [], limit - max(first, 4)
        block.append(name)
        room -= width
    yield block
