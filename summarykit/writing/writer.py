"""A writer: takes values in any thread, and brings them to its files in the pump's."""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import Any

from summarykit.kinds.transfers import TRANSFERS
from summarykit.shapes import Array
from summarykit.writing import lifecycle
from summarykit.writing.buffer import count
from summarykit.writing.desk import Desk
from summarykit.writing.job import Batch
from summarykit.writing.options import WriterOptions
from summarykit.writing.request import PATIENCE
from summarykit.writing.stats import Stats


class Writer:
    """Values in, files out.

    Attributes:
        options: how to write.
        closed: nothing is accepted any more.
        failure: the storage error that nobody has been told yet.
        stats: the counters.
        desk: where the pump takes the values.
        buffer: where they wait for it.
    """

    def __init__(self, options: WriterOptions) -> None:
        """Prepare to write; no file and no thread before the first value."""
        self.options = options
        self.closed = False
        self._start()
        lifecycle.track(self)

    def _start(self) -> None:
        self.failure: OSError | None = None
        self.stats = Stats(self.options.directory)
        self.desk = Desk(self.options, self.stats, self._failed)
        self.buffer = self.desk.buffer
        self._given_up = False

    def put(self, flat: Sequence[Any], batches: Sequence[Batch] = ()) -> bool:
        """Hand over scalars (as in ``writing.flat``) and other values; False where all were dropped."""
        if self.closed:
            self._refuse("the record was closed", flat, batches)
            return False
        accepted = self.buffer.put(flat, batches)
        if TRANSFERS.waiting:
            TRANSFERS.poll()
        if not accepted:
            self._refuse("buffer full: recorded faster than it can be written", flat, batches)
        desk = self.desk
        if desk.ended:    # closed meanwhile, by a signal handler or another thread
            desk.turns.take_all()
            return False
        if desk.direct:
            desk.turns.take_all()
        return accepted

    def allocate(self, nbytes: int) -> Array | None:
        """Memory for a large value that is about to be put: where there is some, it is copied nowhere else."""
        return self.desk.works.executor.allocate(nbytes)

    def flush(self, *, sync: bool = False, patience: float = PATIENCE) -> bool:
        """Wait until all that was put is in the file (and where ``sync``, on the disk); True where it is."""
        return self.desk.flush(sync=sync, patience=patience)

    def close(self, patience: float = PATIENCE) -> bool:
        """Flush and close the files; True where everything is in them. They are then brought to the disk in the background.

        Where the storage hangs this returns in time, and the pump finishes when it answers again. While another call closes (one that a
        signal handler interrupted, or in another thread) this waits for the same end.
        """
        self.closed = True
        if self._given_up:
            return False
        succeeded = self.desk.close(patience)
        if not succeeded and not self.desk.ended:
            self._given_up = True
            self.stats.say("close", "the storage did not answer for %g s; closing goes on in the background", patience)
        return succeeded

    def close_later(self) -> None:
        """Close without waiting: for a finaliser."""
        if not self.closed and self.buffer.mark >= 0:
            self.closed = True
            self.desk.close_later()

    def summary(self) -> dict[str, Any]:
        """The counters, the files, and how far the files are behind (``lag``, seconds)."""
        if self.desk.ended and len(self.buffer):    # from somebody on the short way, who asks for nothing
            self.desk.turns.take_all()
        works = self.desk.works
        oldest = works.output.behind_since or self.buffer.oldest()
        waiting = len(self.buffer) + works.in_work() + works.output.in_hand
        figures = self.stats.as_dict(waiting, 0.0 if oldest is None else max(0.0, time() - oldest))
        return {**figures, "files": works.output.paths + works.lineage.paths}

    def paths(self) -> list[str]:
        """The files made so far."""
        return list(self.desk.works.output.paths)

    def after_fork(self) -> None:
        """In the child: what is here belongs to the parent. The child opens files of its own when it records."""
        self.desk.works.abandon()
        self.desk.ended = self.closed
        if not self.closed:
            self._start()

    def _refuse(self, reason: str, flat: Sequence[Any], batches: Sequence[Batch]) -> None:
        self.stats.drop(reason, count(flat, batches))
        for batch in batches:
            batch.snapshots.let_go()

    def _failed(self, error: OSError) -> None:
        self.failure = error
