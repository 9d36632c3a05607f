"""What ``export`` writes: a table for each kind, and files for what fits no table."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from summarykit.cli import select
from summarykit.cli.contents import contents
from summarykit.cli.describe import dtype_of
from summarykit.cli.progress import Progress
from summarykit.cli.sinks import SINKS, Columns
from summarykit.reading.series import Scalars, Series
from summarykit.shapes import Array, Histogram, Image, Plugin, Point, Shape, Tensor

Found = dict[str, list[tuple[str, Series]]]
"""Kind -> (name of the run, points of one tag)."""

_AT_ONCE = 256
_NUMBERS = ("min", "max", "sum", "nan", "pos_inf", "neg_inf")    # of a histogram


def find(runs: select.Runs, args: argparse.Namespace) -> Found:
    """The points that are asked for."""
    found: Found = defaultdict(list)
    for name, run in runs.items():
        for kind, tag in select.tags_of(run, args):
            found[kind].append((name, run.points(kind, tag)))
    return found


def scalars_only(found: Found, file: Path, form: str) -> list[dict[str, Any]]:
    """Write one table of scalars; gives what was written."""
    return [_write(_Part("scalar", found["scalar"], _scalars), file, form)]


def everything(found: Found, directory: Path, form: str) -> list[dict[str, Any]]:
    """Write a table for each kind into a directory; gives what was written."""
    directory.mkdir(parents=True, exist_ok=True)
    return [_write(part, directory / f"{part.name}s.{form}", form) for part in _parts(found, directory)]


class _Part(NamedTuple):
    """What goes into one table, and how."""

    name: str
    series: list[tuple[str, Series]]
    columns: Callable[[Series], Iterator[Columns]]
    files: _Files | None = None


def _parts(found: Found, directory: Path) -> Iterator[_Part]:
    for kind, columns in (("scalar", _scalars), ("histogram", _histograms)):
        if found.get(kind):
            yield _Part(kind, found[kind], columns)
    others = [each for kind, series in found.items() if kind not in ("scalar", "histogram", "image", "tensor") for each in series]
    for name, series in (("image", found.get("image")), ("tensor", found.get("tensor")), ("other", others)):
        if series:
            files = _Files(directory / f"{name}s")
            yield _Part(name, series, files.columns, files)


def _write(part: _Part, file: Path, form: str) -> dict[str, Any]:
    rows = 0
    with closing(SINKS[form](file)) as sink, Progress(f"exporting {part.name}s") as progress:
        for run, series in progress.over(part.series):
            for columns in part.columns(series):
                length = len(columns["step"])
                sink.write({"run": [run] * length, "tag": [series.tag] * length, **columns})
                rows += length
    beside = part.files.count if part.files else 0
    return {"file": str(file), "kind": part.name, "rows": rows, "files": beside, "bytes": file.stat().st_size}


def _scalars(series: Series) -> Iterator[Columns]:
    assert isinstance(series, Scalars)
    yield {"step": series.step, "wall_time": series.wall_time, "value": series.value}


def _histograms(series: Series) -> Iterator[Columns]:
    for points in _pieces(series):
        shapes = [point.value for point in points if isinstance(point.value, Histogram)]
        numbers = {name: np.array([getattr(shape, name) for shape in shapes]) for name in _NUMBERS}
        lists = {name: [getattr(shape, name).tolist() for shape in shapes] for name in ("edges", "counts")}
        yield {**_places(points), **numbers, **lists}


class _Files:
    """Values as files of their own: their names are counted, as a tag may be what no file system takes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.count = 0

    def columns(self, series: Series) -> Iterator[Columns]:
        """Write a file for each value; gives a row for each file, that says what is in it."""
        self._directory.mkdir(exist_ok=True)
        for point in series:
            files = [self._save(*content, point.step) for content in contents(point.value)]
            dtype, shape = _form(point.value)
            same = {"kind": series.kind, "dtype": dtype, "shape": shape}
            places = {"step": np.full(len(files), point.step), "wall_time": np.full(len(files), point.wall_time)}
            yield {**places, "path": files, **{name: [value] * len(files) for name, value in same.items()}}

    def _save(self, content: bytes | Array, ending: str, step: int) -> str:
        self.count += 1
        file = self._directory / f"{self.count:06d}_step_{step}.{ending}"
        with open(file, "xb") as stream:
            if isinstance(content, bytes):
                stream.write(content)
            else:
                np.save(stream, content, allow_pickle=False)
        return f"{self._directory.name}/{file.name}"


def _form(value: Shape) -> tuple[str, list[int]]:
    """Dtype and shape, where it has them."""
    if isinstance(value, Image):
        return "uint8", [value.height, value.width, value.channels]
    return (dtype_of(value), list(value.data.shape)) if isinstance(value, Tensor | Plugin) else ("", [])


def _pieces(series: Series) -> Iterator[list[Point]]:
    for begin in range(0, len(series), _AT_ONCE):
        yield list(series[begin : begin + _AT_ONCE])


def _places(points: list[Point]) -> dict[str, Array]:
    return {"step": np.array([point.step for point in points]), "wall_time": np.array([point.wall_time for point in points])}
