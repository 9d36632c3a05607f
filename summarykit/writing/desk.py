"""Where callers and the pump meet: values come into a buffer, wishes to see them in the files into a queue, and the pump serves both."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic

from summarykit.kinds.fence import FENCE
from summarykit.kinds.transfers import TRANSFERS
from summarykit.writing import lifecycle
from summarykit.writing.buffer import Buffer, count
from summarykit.writing.options import WriterOptions
from summarykit.writing.request import PATIENCE, Request
from summarykit.writing.stats import Stats
from summarykit.writing.turns import Turns
from summarykit.writing.works import Works

_REST_SECS = 1.0    # so long, at most, a desk with nothing in hand takes no turn


class Desk:
    """One life of a writer: from its first value, or from a fork, until its files are closed.

    Attributes:
        flush_secs: longest pause between two turns, in seconds.
        buffer: what no turn has taken yet.
        works: what the turns have.
        turns: whose turn it is.
        ended: the files are closed. Who puts something all the same works it through.
        direct: no thread serves this desk any more: who puts or asks something works it through.
    """

    def __init__(self, options: WriterOptions, stats: Stats, failed: Callable[[OSError], None]) -> None:
        """No file and no thread before the first value. ``failed`` is told when writing begins to fail."""
        self.flush_secs = options.flush_secs
        self.buffer = Buffer(options.on_full, self._attend, lifecycle.pump().wake)
        self.works = Works(options, stats, self.buffer.release, failed, self._bring)
        self.turns = Turns(self._turn, stats.say)
        self.ended = False
        self.direct = False
        self._stats = stats
        self._requests: deque[Request] = deque()
        self._at_rest, self._rest_until = True, monotonic() + _REST_SECS

    # --- for callers

    def flush(self, *, sync: bool = False, patience: float = PATIENCE) -> bool:
        """Wait until all that was put is in the file; True where it is."""
        return self._ask(Request(self.works.sync if sync else self.works.flushed), patience)

    def close(self, patience: float) -> bool:
        """Flush and close the files; True where everything is in them."""
        return self._ask(Request(self._close), patience)

    def close_later(self) -> None:
        """Close without waiting."""
        TRANSFERS.settle(PATIENCE)
        self._requests.append(Request(self._close))
        lifecycle.pump().wake()

    def _ask(self, request: Request, patience: float) -> bool:
        if self.buffer.mark < 0 and not len(self.buffer) and not self.direct:
            return True    # nothing was ever put
        TRANSFERS.settle(patience)
        self._requests.append(request)
        if self.ended:
            self.turns.take_all()
            return self.works.flushed()
        if self.direct and not self.turns.take_all():
            return False
        lifecycle.pump().call()    # a signal handler may ask before the call that it interrupted has started a thread
        with FENCE.set_aside():
            return request.wait(patience, self._progress)

    def _progress(self) -> object:
        return self._stats.bytes, self._stats.written, self.buffer.taken, self.works.executor.completed

    # --- at the edges of the process

    def _attend(self) -> None:
        """The first value after the start, or after a fork."""
        lifecycle.watch_exit()
        if not lifecycle.attend(self):
            self.write_directly()

    def write_directly(self) -> None:
        """From now on the calling thread writes, beginning with what is there: the interpreter is ending."""
        self.direct = self.buffer.eager = True
        TRANSFERS.settle(PATIENCE)
        self.turns.take_all()
        self.works.output.maker.wait_for_tails()

    # --- the pump's turn

    def work(self) -> bool:
        """One turn, or none where nothing came since one that left nothing; True where more is waiting.

        An idle desk is asked ten times a second, each time with cold caches: it must be told by a few look-ups, without a call.
        """
        if self._at_rest and not self.buffer.flat and not self.buffer.batches and not self._requests and monotonic() < self._rest_until:
            return False
        return self.turns.take()

    def _turn(self) -> bool:
        return self._dismiss_late_comers() if self.ended else self._serve()

    def _serve(self) -> bool:
        if FENCE.waiting:
            FENCE.begin()
        requests = list(self._requests)
        if self.direct and self.works.work_here():
            for request in requests:
                request.ticket = None    # what it waited for is done, or given up, here
        for request in requests:
            if request.position is None:
                request.position = self.buffer.end()
        self.works.take(*self.buffer.take())
        self.works.deliver()
        self._at_rest, self._rest_until = self.works.at_rest(), monotonic() + _REST_SECS
        self.works.lineage.beat()
        if not self.direct:
            self.works.durable.beat()
        behind = [request for request in requests if not self._answer(request)]
        if self.ended:
            return self._dismiss_late_comers()
        return self._hurry() or any(request.position and not self.buffer.passed(request.position) for request in behind)

    def _bring(self) -> None:
        """A thread has worked on values: it brings them to the files, while they are in its caches, and calls the pump for the rest."""
        if self.turns.take_free(self._deliver):
            lifecycle.pump().wake()

    def _deliver(self) -> bool:
        """Bring what was worked on to the files; True where it was all that somebody waits for."""
        if not self.ended:
            self.works.deliver()
        return any(map(self._worked_on, list(self._requests)))

    def _hurry(self) -> bool:
        return bool(len(self.buffer) or self._requests) if self.direct else self.buffer.crowded()

    def _answer(self, request: Request) -> bool:
        """Carry out a request if all that was put before it is in the file (or cannot come there)."""
        executor = self.works.executor
        if request.position is None or not self.buffer.passed(request.position):
            return False
        if request.ticket is None:
            request.ticket = executor.submitted
        if not self._worked_on(request):
            return False
        self._requests.remove(request)
        request.carry_out()
        return True

    def _worked_on(self, request: Request) -> bool:
        """Whether all values that were put before it are known to be worked on."""
        return request.ticket is not None and self.works.executor.completed >= request.ticket

    def _close(self) -> bool:
        succeeded, syncs = self.works.flushed(), self.works.close()
        self.ended = True
        nobody_left = lifecycle.pump().dismiss(self)
        self.works.durable.sync(syncs, by_me=nobody_left)
        return succeeded

    def _dismiss_late_comers(self) -> bool:
        """What other threads recorded, or asked for, while the files were closed: for the thread whose turn it is."""
        while len(self.buffer):
            self._stats.drop("the record was closed", count(*self.buffer.take()))
        while self._requests:
            self._requests.popleft().finish(self.works.flushed())
        return False
