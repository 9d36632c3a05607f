"""From outcomes to the files: what is a point yet is laid out, what is a record already goes as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from summarykit.formats.scalars import ScalarBatch
from summarykit.shapes import Embedding, Graph, Lineage, Point, Scalar, Tensor
from summarykit.writing.executor import Outcome
from summarykit.writing.export import Exporter
from summarykit.writing.graphs import Graphs
from summarykit.writing.lineage import LineageFile
from summarykit.writing.options import WriterOptions
from summarykit.writing.output import Output
from summarykit.writing.projector import Projector
from summarykit.writing.records import Records, chunks, lay_out
from summarykit.writing.stats import Stats


class Delivery:
    """Writes outcomes, in their order. Whatever goes wrong costs one value, and is counted."""

    def __init__(self, options: WriterOptions, output: Output, stats: Stats) -> None:
        """Deliver into ``output``, and tensors as ``.npy`` files too where the options say so."""
        self._output = output
        self._stats = stats
        self._exporter = Exporter(options.directory) if options.export else None
        self._projector = Projector(options.directory)
        self._graphs = Graphs(options.directory, options.formats)
        self.lineage = LineageFile(options, output.origin)

    def outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Write what became of some tasks."""
        for formats, group in groupby(outcomes, _formats):
            if formats:
                self.records([outcome.records or () for outcome in group])
            else:
                self._one_by_one(group)

    def records(self, rows: Sequence[Records]) -> None:
        """Write values that are records already, all of them in the same formats."""
        self._output.write(chunks(rows), len(rows))

    def point(self, point: Point) -> None:
        """Lay out and write one value."""
        if isinstance(point.value, Lineage):
            self._write_lineage(point)
            return
        try:
            if isinstance(point.value, Embedding):
                point = self._projector.place(point)
            elif isinstance(point.value, Graph):
                point = self._graphs.place(point)
            records = lay_out(point, self._output.formats)
        except Exception as error:  # noqa: BLE001  such as a MemoryError: it costs this value alone
            self._stats.drop(f"{point.kind}: {type(error).__name__}", detail=f"{point.tag!r}: {error}")
            return
        self.records([records])
        if isinstance(point.value, Scalar):
            self._stats.watch(_column(point, point.value))
        if self._exporter and isinstance(point.value, Tensor):
            self._exporter.export(point, self._stats)

    def _write_lineage(self, point: Point) -> None:
        try:
            self._stats.bytes += self.lineage.write(point)
            self._stats.written += 1
        except Exception as error:  # noqa: BLE001  it costs this part alone: what is known is written again when more is known
            self._stats.drop(f"{point.kind}: {type(error).__name__}", detail=f"{point.tag!r}: {error}")

    def _one_by_one(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.point is None:
                self._stats.drop(outcome.reason, detail=repr(outcome.task.job.tag))
            else:
                self.point(outcome.point)


def _formats(outcome: Outcome) -> tuple[bool, ...]:
    """In which formats there is a record of it; nothing where it is none yet."""
    return tuple(record is not None for record in outcome.records or ())


def _column(point: Point, scalar: Scalar) -> ScalarBatch:
    return ScalarBatch([point.tag], np.array([point.step]), np.array([point.wall_time]), np.array([scalar.value]))
