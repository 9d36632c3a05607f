"""Runs in another format: what the resolved view shows, written anew."""

from __future__ import annotations

import os
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from summarykit import __version__
from summarykit.clock import Process
from summarykit.formats import FORMATS, Format, framing, names
from summarykit.formats.mindspore import lineage
from summarykit.formats.names import Stem, next_stamp
from summarykit.formats.origin import Origin
from summarykit.formats.scalars import ScalarBatch, ScalarEncoder
from summarykit.local import path_text
from summarykit.reading.collection import runs
from summarykit.reading.files import summary_files
from summarykit.reading.repairing import refuse_inside
from summarykit.reading.report import Report
from summarykit.reading.run import Run
from summarykit.reading.series import Series
from summarykit.shapes import Ints, Lineage

LINEAGE = "lineage"

_BATCH = 1 << 14


def convert(path: str | os.PathLike[str], out_dir: str | os.PathLike[str], format: str = "tensorboard", *, raw: bool = False) -> Report:    # noqa: A002
    """Write every run at or below a directory in one format: a file per run, in the same tree, points by ascending step.

    Args:
        path: the directory (or one summary file).
        out_dir: where the new files go; made if need be.
        format: ``"tensorboard"`` or ``"mindspore"``.
        raw: take all points, not only those that count after restarts.

    Returns:
        What was found in the originals, the files that were ``written``, and how many points of which kind the format's viewer will not
        show (our reader does).

    Raises:
        FileNotFoundError: there is no such path.
        ValueError: ``format`` is unknown, or ``out_dir`` lies in ``path``.
        FileExistsError: summary files are already where a run would go: viewers would take them for its own.
        OSError: a file cannot be read or written.
    """
    target, base, out = FORMATS.get(format)(), Path(path_text("path", path)), Path(path_text("out_dir", out_dir))
    found = dict(runs(base, raw=raw)) if base.is_dir() else {".": Run(base, raw=raw)}
    refuse_inside(base if base.is_dir() else base.parent, out_dir)
    for name in found:
        if (out / name).is_dir() and summary_files(out / name):
            raise FileExistsError(f"out_dir {str(out / name)!r} holds summary files already: give a new directory")
    unseen: Counter[str] = Counter()
    written = [file for name, run in found.items() for file in _convert(run, out / name, target, unseen)]
    return replace(Report([file for run in found.values() for file in run.files]), written=written, left_out=dict(+unseen))


def _convert(run: Run, directory: Path, target: Format, unseen: Counter[str]) -> list[Path]:
    """Write a run, and its lineage into a file of its own: it has one form only."""
    directory.mkdir(parents=True, exist_ok=True)
    process = Process.current()
    now = time.time()
    stamp = next_stamp(now, os.listdir(directory))
    origin = Origin(uuid.uuid4().hex, 0, process, library=f"summarykit {__version__}")
    stem = Stem(stamp, 0, process.host, process.pid, 0)
    file = directory / target.file_name("events", stem, "_MS")
    _write(file, target.opening(origin, now), _records(run, target, unseen))
    parts = [[framing.frame(payload)] for payload in _lineage(run)]
    if not parts:
        return [file]
    beside = directory / names.lineage("events", replace(stem, stamp=stamp + 1), "_MS")
    _write(beside, [lineage.opening(origin, now)], parts)
    return [file, beside]


def _write(file: Path, opening: Iterable[bytes], records: Iterable[list[Any]]) -> None:
    with open(file, "xb") as stream:
        stream.writelines(map(framing.frame, opening))
        for buffers in records:
            stream.writelines(buffers)


def _lineage(run: Run) -> list[bytes]:
    """The events of a run's lineage, by age."""
    points = [point for tag in run.tags().get(LINEAGE, ()) for point in run.points(LINEAGE, tag)]
    points.sort(key=lambda point: point.wall_time)
    return [lineage.encode(point.value, point.step, point.wall_time) for point in points if isinstance(point.value, Lineage)]


def _records(run: Run, target: Format, unseen: Counter[str]) -> Iterator[list[Any]]:
    """All points of a run but its lineage, framed."""
    series = [run.points(kind, tag) for kind, tags in run.tags().items() if kind != LINEAGE for tag in tags]
    encoder = ScalarEncoder([target.scalar_field])
    for part in _in_order(series):
        first = series[int(part.series[0])]
        if first.kind == "scalar":
            yield encoder.encode(part.batch([each.tag for each in series]))[0].data
            continue
        point = first[int(part.places[0])]
        unseen[first.kind] += not target.shows(point.value)
        yield framing.framed(target.payload(point))


class _Part:
    """Points that follow on each other: scalars many at a time, everything else alone."""

    def __init__(self, columns: Sequence[Any], chosen: Ints) -> None:
        self.series, self.places, self._steps, self._wall_times, self._values = (column[chosen] for column in columns)

    def batch(self, tags: list[str]) -> ScalarBatch:
        """Scalars; ``tags`` by number of the series."""
        return ScalarBatch([tags[number] for number in self.series.tolist()], self._steps, self._wall_times, self._values)


def _in_order(series: Sequence[Series]) -> Iterator[_Part]:
    if not series:
        return
    tables = [each.table() for each in series]
    columns = [
        np.repeat(np.arange(len(series)), [len(each) for each in series]),
        np.concatenate([np.arange(len(each)) for each in series]),
        *(np.concatenate([table.columns[name] for table in tables]) for name in ("step", "wall_time", "value")),
    ]
    order = np.lexsort((columns[3], columns[2]))    # by step, then by time
    scalar = np.concatenate([table.is_scalar for table in tables])[order]
    for begin, end in _stretches(scalar):
        yield _Part(columns, order[begin:end])


def _stretches(scalar: Any) -> Iterator[tuple[int, int]]:
    """Begin and end of each run of scalars (at most ``_BATCH``), and of each other point."""
    cuts = np.flatnonzero(np.append(True, ~scalar[1:] | ~scalar[:-1]))
    for begin, end in zip(cuts.tolist(), [*cuts[1:].tolist(), len(scalar)], strict=True):
        yield from ((at, min(at + _BATCH, end)) for at in range(begin, end, _BATCH))
