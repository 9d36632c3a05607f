"""What a trainer did not live to write: into new files, by the worker that has it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from summarykit.writing.delivery import Delivery
from summarykit.writing.lineage import LineageFile
from summarykit.writing.messages import Done
from summarykit.writing.options import WriterOptions
from summarykit.writing.output import Output
from summarykit.writing.stats import Stats


def write_left(options: WriterOptions, left: Iterable[Done]) -> None:
    """Write them beside the files of the trainer, whose run they belong to; nothing is made where there are none."""
    if not os.path.isdir(options.directory):
        return    # somebody has removed the run meanwhile
    stats = Stats(options.directory)
    output = Output(options, stats, lambda _: None)
    lineage = LineageFile(options, output.maker.origin)
    delivery = Delivery(options, output, lineage, stats)
    for done in left:
        if done.records is not None:
            delivery.records([done.records])
        elif done.point is not None:
            delivery.point(done.point)
    output.close()
    lineage.close()
