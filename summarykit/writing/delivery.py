"""From outcomes to the files: what is a point yet is laid out, what is a record already goes as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from summarykit.formats.scalars import ScalarBatch
from summarykit.registry import imported
from summarykit.shapes import Embedding, Graph, Lineage, Point, Scalar, Tensor
from summarykit.writing.executor import Outcome
from summarykit.writing.lineage import LineageFile
from summarykit.writing.options import WriterOptions
from summarykit.writing.output import Output
from summarykit.writing.records import Records, chunks, lay_out
from summarykit.writing.stats import Stats

if TYPE_CHECKING:
    from summarykit.writing.export import Exporter
    from summarykit.writing.graphs import Graphs
    from summarykit.writing.projector import Projector

TOGETHER_BYTES = 2**18
"""Bytes of records up to which they are written at once."""


class Delivery:
    """Writes outcomes, in their order. Whatever goes wrong costs one value, and is counted."""

    def __init__(self, options: WriterOptions, output: Output, lineage: LineageFile, stats: Stats) -> None:
        """Deliver into ``output``, what belongs there into ``lineage``, and tensors as ``.npy`` files too where the options say so."""
        self._output = output
        self._stats = stats
        self._options = options
        self._exporter: Exporter | None = imported("summarykit.writing.export").Exporter(options.directory) if options.export else None
        self._projector: Projector | None = None    # most runs have neither embeddings nor graphs
        self._graphs: Graphs | None = None
        self._lineage = lineage

    def outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Write what became of some tasks; small records together, as long as they go into the same formats."""
        together: list[Records] = []
        nbytes = 0
        for outcome in outcomes:
            records = outcome.records or self._laid_out(outcome)
            if records is None:
                continue
            if together and (nbytes >= TOGETHER_BYTES or _formats(records) != _formats(together[0])):
                self.records(together)
                together, nbytes = [], 0
            together.append(records)
            nbytes += sum([memoryview(part).nbytes for part in records[0] or ()])
        if together:
            self.records(together)

    def records(self, rows: Sequence[Records]) -> None:
        """Write values that are records already, all of them in the same formats."""
        try:
            ready = chunks(rows)
        except Exception as error:  # noqa: BLE001  such as a MemoryError: it costs these values alone
            self._stats.drop(type(error).__name__, len(rows), str(error))
        else:
            self._output.write(ready, len(rows))

    def point(self, point: Point) -> None:
        """Lay out and write one value."""
        records = self._records(point)
        if records is not None:
            self.records([records])

    def _laid_out(self, outcome: Outcome) -> Records | None:
        if outcome.point is not None:
            return self._records(outcome.point)
        self._stats.drop(outcome.reason, detail=repr(outcome.task.job.tag))
        return None

    def _records(self, point: Point) -> Records | None:
        """Lay out one value; None where it is lost, or has a file of its own."""
        if isinstance(point.value, Lineage):
            self._write_lineage(point)
            return None
        try:
            point = self._placed(point)
            records = lay_out(point, self._output.formats)
            if isinstance(point.value, Scalar):
                self._stats.watch(_column(point, point.value))
            if self._exporter and isinstance(point.value, Tensor):
                self._exporter.export(point, self._stats)
        except Exception as error:  # noqa: BLE001  such as a MemoryError: it costs this value alone
            self._stats.drop(f"{point.kind}: {type(error).__name__}", detail=f"{point.tag!r}: {error}")
            return None
        return records

    def _placed(self, point: Point) -> Point:
        """The point as it goes into the files of values, where it has files beside them."""
        options = self._options
        if isinstance(point.value, Embedding):
            self._projector = self._projector or imported("summarykit.writing.projector").Projector(options.directory)
            return self._projector.place(point)
        if isinstance(point.value, Graph):
            self._graphs = self._graphs or imported("summarykit.writing.graphs").Graphs(options.directory, options.formats)
            return self._graphs.place(point)
        return point

    def _write_lineage(self, point: Point) -> None:
        try:
            self._stats.bytes += self._lineage.write(point)
            self._stats.written += 1
        except Exception as error:  # noqa: BLE001  it costs this part alone: what is known is written again when more is known
            self._stats.drop(f"{point.kind}: {type(error).__name__}", detail=f"{point.tag!r}: {error}")


def _formats(records: Records) -> list[bool]:
    """In which formats there is a record."""
    return [record is not None for record in records]


def _column(point: Point, scalar: Scalar) -> ScalarBatch:
    return ScalarBatch([point.tag], np.array([point.step]), np.array([point.wall_time]), np.array([scalar.value]))
