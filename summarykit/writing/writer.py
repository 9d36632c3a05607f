"""A writer: takes values in any thread, and brings them to its files in the pump's."""

from __future__ import annotations

import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic, time
from typing import Any

from summarykit.kinds.fence import FENCE, Fenced
from summarykit.kinds.transfers import TRANSFERS
from summarykit.shapes import Array
from summarykit.writing import lifecycle
from summarykit.writing.buffer import Buffer, count
from summarykit.writing.delivery import Delivery
from summarykit.writing.durable import Durable, Unsynced
from summarykit.writing.executor import Executor, InlineExecutor
from summarykit.writing.job import Batch
from summarykit.writing.options import WriterOptions
from summarykit.writing.output import Output
from summarykit.writing.process import executor_for
from summarykit.writing.request import Request
from summarykit.writing.scalars import ScalarWriter
from summarykit.writing.stats import Stats

PATIENCE = 5.0
"""Seconds that ``flush`` and ``close`` wait without seeing progress."""

_REST_SECS = 1.0    # so long, at most, a writer with nothing in hand takes no turn


class Writer:
    """Values in, files out. ``put``, ``flush``, ``close`` and ``stats`` are for callers, ``work`` is for the pump."""

    def __init__(self, options: WriterOptions) -> None:
        """Prepare to write; no file and no thread before the first value."""
        self.options = options
        self.flush_secs = options.flush_secs
        self.closed = False
        self._start()
        lifecycle.track(self)
        if options.resume is not None:
            lifecycle.track_resuming(self)

    def _start(self) -> None:
        self.failure: OSError | None = None
        self.ended = False
        self.stats = Stats(str(self.options.directory))
        self.buffer = Buffer(self.options.on_full, self._attend, lifecycle.pump().wake)
        self._output = Output(self.options, self.stats, self._failed)
        self._scalars = ScalarWriter(self._output, self.stats)
        self._delivery = Delivery(self.options, self._output, self.stats)
        self._executor: Executor = executor_for(self.options, lifecycle.pump().wake, self.stats.say)
        self._requests: deque[Request] = deque()
        self._direct = False
        self._turning = threading.RLock()
        self._inside = False
        self._pump_hangs = False
        self._given_up = False
        self._at_rest = False
        self._rest_until = 0.0
        self._durable = Durable(self.stats, lifecycle.syncer(), self._unsynced)

    # --- for callers

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
        if self.ended:    # closed meanwhile, by a signal handler or another thread
            self._work_through()
            return False
        if self._direct:
            self._work_through()
        return accepted

    def allocate(self, nbytes: int) -> Array | None:
        """Memory for a large value that is about to be put: where there is some, it is copied nowhere else."""
        return self._executor.allocate(nbytes)

    def flush(self, *, sync: bool = False, patience: float = PATIENCE) -> bool:
        """Wait until all that was put is in the file; True where it is."""
        return self._ask(Request(sync=sync), patience)

    def close(self, patience: float = PATIENCE) -> bool:
        """Flush and close the files; True where everything is in them. They are then brought to the disk in the background.

        Where the storage hangs this returns in time, and the pump finishes when it answers again. While another call closes (one that a
        signal handler interrupted, or in another thread) this waits for the same end.
        """
        self.closed = True
        if self._given_up:
            return False
        succeeded = self._ask(Request(sync=False, closing=True), patience)
        if not succeeded and not self.ended:
            self._given_up = True
            self.stats.say("close", "the storage did not answer for %g s; closing goes on in the background", patience)
        return succeeded

    def close_later(self) -> None:
        """Close without waiting: for a finaliser."""
        if not self.closed and self.buffer.mark >= 0:
            self.closed = True
            TRANSFERS.settle(PATIENCE)
            self._requests.append(Request(sync=False, closing=True))
            lifecycle.pump().wake()

    def summary(self) -> dict[str, Any]:
        """The counters, the files, and how far the files are behind (``lag``, seconds)."""
        if self.ended and len(self.buffer):    # from somebody on the short way, who asks for nothing
            self._work_through()
        oldest = self._output.behind_since or self.buffer.oldest()
        waiting = len(self.buffer) + self._executor.submitted - self._executor.completed + self._output.in_hand
        figures = self.stats.as_dict(waiting, 0.0 if oldest is None else max(0.0, time() - oldest))
        return {**figures, "files": self._output.paths + self._delivery.lineage.paths}

    def paths(self) -> list[str]:
        """The files made so far."""
        return list(self._output.paths)

    def _ask(self, request: Request, patience: float) -> bool:
        if self.buffer.mark < 0 and not len(self.buffer) and not self._direct:
            return True    # nothing was ever put
        TRANSFERS.settle(patience)
        self._requests.append(request)
        if self.ended:
            self._work_through()
            return self._output.error is None
        if self._direct and not self._work_through():
            return False
        lifecycle.pump().call()    # a signal handler may ask before the call that it interrupted has started a thread
        return request.wait(patience, lambda: (self.stats.bytes, self.stats.written, self.buffer.taken, self._executor.completed))

    def _refuse(self, reason: str, flat: Sequence[Any], batches: Sequence[Batch]) -> None:
        self.stats.drop(reason, count(flat, batches))
        for batch in batches:
            for snapshot in batch.snapshots:
                if isinstance(snapshot, Fenced):
                    snapshot.let_go()

    # --- at the edges of the process

    def _attend(self) -> None:
        """The first value after the start, or after a fork."""
        lifecycle.watch_exit()
        if not lifecycle.attend(self):
            self.write_directly()

    def write_directly(self) -> None:
        """From now on the calling thread writes, beginning with what is there: the interpreter is ending."""
        self._direct = self.buffer.eager = True
        TRANSFERS.settle(PATIENCE)
        executor, self._executor = self._executor, InlineExecutor()
        for request in list(self._requests):
            request.ticket = None    # what it waited for is done, or given up, here
        left = executor.submitted - executor.completed
        if left:    # as if it were killed: what workers have of it they write when this process is gone
            self.stats.drop("the process ended before it was worked on", left)
        else:
            executor.close()
        self._work_through()
        self._output.wait_for_tails()

    def begin_resumed(self) -> None:
        """Begin what is resumed before a forked child, or a copy, adds to it: a beginning after their points would hide these.

        Another thread begins: a signal handler that flushes meanwhile would wait for the call that it interrupted. It is a plain thread,
        since the handler may interrupt its start, too: that of ``threading`` holds a lock for which the pump's own start waits.
        """
        if self.options.resume is None or self.closed:
            return
        if not self._output.paths:
            beginning = Request(sync=False)
            try:
                start_new_thread(self._begin, (beginning,))
            except RuntimeError:    # at the end of the process none can be started any more
                self._begin(beginning)
            beginning.wait(PATIENCE, lambda: None)
        self._output.wait_for_tails()    # not in the turn, which others wait for

    def _begin(self, beginning: Request) -> None:
        try:
            if self._turning.acquire(timeout=1.0):
                try:
                    if not self._inside:
                        self._output.begin()
                finally:
                    self._turning.release()
        finally:
            beginning.finish(True)

    def after_fork(self) -> None:
        """In the child: what is here belongs to the parent. The child opens files of its own when it records."""
        self._output.abandon()
        self._delivery.lineage.close()
        self._executor.abandon()
        self.ended = self.closed
        if not self.closed:
            self.options = replace(self.options, resume=None)    # it was the parent that resumed: its points must not be hidden
            self._start()

    # --- the pump's turn

    def work(self) -> bool:
        """One turn, or none where nothing came since one that left nothing; True where more is waiting.

        An idle writer is asked ten times a second, each time with cold caches: it must be told by a few look-ups, without a call.
        """
        if self._at_rest and not self.buffer.flat and not self.buffer.batches and not self._requests and monotonic() < self._rest_until:
            return False
        if not self._turning.acquire(timeout=1.0):
            return False    # at the end of the process, a pump that hangs in a system call
        try:
            self._inside = True
            return self._dismiss_late_comers() if self.ended else self._turn()
        except Exception as error:  # noqa: BLE001  the pump serves all writers and outlives any fault of one
            self.stats.say(("turn", type(error)), "internal error, please report it: %r", error)
            return False
        finally:
            self._inside = False
            self._turning.release()

    def _work_through(self) -> bool:
        """Turn until nothing is left; False where another turn is not over.

        Either a signal handler interrupted it, and it goes on when that is done; or the pump hangs in a system call.
        """
        self._pump_hangs = not self._turning.acquire(timeout=0.0 if self._pump_hangs else 1.0)
        if self._pump_hangs:
            return False
        try:
            while not self._inside and self.work():
                continue
            return not self._inside
        finally:
            self._turning.release()

    def _turn(self) -> bool:
        if FENCE.waiting:
            FENCE.begin()
        requests = list(self._requests)
        for request in requests:
            if request.position is None:
                request.position = self.buffer.end()
        flat, batches = self.buffer.take()
        if flat:
            self._scalars.write(flat)
        for batch in batches:
            for task in batch.tasks():
                self._executor.submit(task)
        self._deliver()
        self._at_rest = self._executor.submitted == self._executor.completed and not self._output.behind_since
        self._rest_until = monotonic() + _REST_SECS
        self._delivery.lineage.beat()
        if not self._direct:
            self._durable.beat()
        behind = [request for request in requests if not self._answer(request)]
        if self.ended:
            return self._dismiss_late_comers()
        return self._hurry() or any(request.position and not self.buffer.passed(request.position) for request in behind)

    def _hurry(self) -> bool:
        return bool(len(self.buffer) or self._requests) if self._direct else self.buffer.crowded()

    def _deliver(self) -> None:
        """Write what the executor has done, and let it know once that is in the file (or, where the disk is full, not to be waited for)."""
        outcomes = self._executor.outcomes()
        for outcome in outcomes:
            self.buffer.release(outcome.task.job)
        self._delivery.outcomes(outcomes)
        self._output.push()
        if not self._output.in_hand or self._output.error is not None:
            self._executor.settle()

    def _answer(self, request: Request) -> bool:
        """Finish a request if all that was put before it is in the file (or cannot come there)."""
        if request.position is None or not self.buffer.passed(request.position):
            return False
        if request.ticket is None:
            request.ticket = self._executor.submitted
        if self._executor.completed < request.ticket:
            return False
        self._requests.remove(request)
        if request.sync:
            self._output.sync()
        succeeded = self._output.error is None
        if request.closing:
            self._end()
        request.finish(succeeded)
        return True

    def _end(self) -> None:
        self._executor.close()
        self._output.push()
        syncs = self._durable.prepare()
        self._output.close()
        self._delivery.lineage.close()
        self.ended = True
        nobody_left = lifecycle.pump().dismiss(self)
        self._durable.sync(syncs, by_me=nobody_left)

    def _unsynced(self) -> Unsynced:
        files, paths = self._output.unsynced()
        return Unsynced(files + self._delivery.lineage.files(), paths)

    def _dismiss_late_comers(self) -> bool:
        """What other threads recorded, or asked for, while the files were closed: for the thread whose turn it is."""
        while len(self.buffer):
            self.stats.drop("the record was closed", count(*self.buffer.take()))
        while self._requests:
            self._requests.popleft().finish(self._output.error is None)
        return False

    def _failed(self, error: OSError) -> None:
        self.failure = error
