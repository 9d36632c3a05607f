"""What fails in the midst of writing costs what it cannot keep, and that is counted."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import Run, SummaryWriter
from summarykit.formats.chunk import Chunk
from summarykit.writing.file import RecordFile
from summarykit.writing.maker import FileMaker
from summarykit.writing.output import Output

KEPT = [(RecordFile, "push", 1), (RecordFile, "push", 2)]
LOST = [(RecordFile, "add", 1), (RecordFile, "add", 2), (RecordFile, "vanished", 1), (Chunk, "split", 1), (Output, "_fitting", 1)]
LOST += [(FileMaker, "make", 1)]


@pytest.mark.parametrize(("where", "name", "call"), KEPT + LOST)
def test_where_memory_runs_out_nothing_is_lost_uncounted(where, name, call, tmp_path, monkeypatch):
    """As under ``ulimit -v``; writing goes on when there is memory again."""
    calls, real = [], getattr(where, name)

    def fails_once(*args):
        calls.append(args)
        if len(calls) == call:
            raise MemoryError("no more")
        return real(*args)

    with SummaryWriter(tmp_path, flush_secs=30, max_file_size=5000, num_process=0) as writer:
        writer.add_scalar("before", 1.0, 1)
        assert writer.flush()
        monkeypatch.setattr(where, name, fails_once)
        for step in range(100):
            writer.add_scalar("loss", step, step)
        writer.add_tensor("weights", np.zeros(500), 1)
        writer.flush()
        writer.add_scalar("after", 1.0, 1)
        assert writer.flush()
        stats = writer.stats()
    assert len(calls) >= call
    lost = sum(stats["dropped"].values())
    assert (stats["recorded"], stats["waiting"], stats["written"]) == (103, 0, 103 - lost)
    assert bool(lost) == ((where, name, call) in LOST)
    run = Run(tmp_path)
    assert sum(len(run.points(kind, tag)) for kind, tags in run.tags().items() for tag in tags) >= 103 - lost
    assert run.scalars("after").step.tolist() == [1]
