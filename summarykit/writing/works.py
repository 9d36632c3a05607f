"""Behind the buffer: the executor that works on values, and the files that they go to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from summarykit.registry import imported
from summarykit.writing import lifecycle
from summarykit.writing.durable import Durable, Sync, Unsynced
from summarykit.writing.executor import Executor, InlineExecutor, Outcome
from summarykit.writing.job import Batch, Job
from summarykit.writing.lineage import LineageFile
from summarykit.writing.options import WriterOptions
from summarykit.writing.output import Output
from summarykit.writing.process import executor_for
from summarykit.writing.scalars import ScalarWriter
from summarykit.writing.stats import Stats

if TYPE_CHECKING:
    from summarykit.writing.delivery import Delivery


class Works:
    """Brings values to the files: for the thread whose turn it is.

    Attributes:
        executor: works on what cannot be written as it is.
        output: the files of the values.
        lineage: the file of the lineage.
        durable: brings them to the disk.
    """

    def __init__(
        self,
        options: WriterOptions,
        stats: Stats,
        release: Callable[[Job], None],
        failed: Callable[[OSError], None],
        bring: Callable[[], None],
    ) -> None:
        """Prepare; nothing is created yet.

        Args:
            options: how to write.
            stats: the counters.
            release: told of each job that is done with.
            failed: told when writing begins to fail.
            bring: called by a thread of this process that has worked on values.
        """
        self.executor: Executor = executor_for(options, bring, lifecycle.pump().wake, stats.say)
        self.output = Output(options, stats, failed)
        self.lineage = LineageFile(options, self.output.maker.origin)
        self._options = options
        self._stats = stats
        self._release = release
        self._scalars = ScalarWriter(self.output, stats)
        self._delivery: Delivery | None = None    # scalars have a way of their own, and many runs nothing else
        self.durable = Durable(stats, lifecycle.syncer(), self._unsynced)

    def take(self, flat: list[Any], batches: Sequence[Batch]) -> None:
        """Write scalars, and have other values worked on."""
        if flat:
            self._scalars.write(flat)
        for batch in batches:
            for task in batch.tasks():
                self.executor.submit(task)

    def deliver(self) -> None:
        """Write what the executor has done, and let it know once that is in the file (or, where the disk is full, not to be waited for)."""
        outcomes = self.executor.outcomes()
        for outcome in outcomes:
            self._release(outcome.task.job)
        if outcomes:
            self._deliver(outcomes)
        self.output.push()
        if not self.output.in_hand or self.output.error is not None:
            self.executor.settle()

    def _deliver(self, outcomes: list[Outcome]) -> None:
        try:
            self._delivery = self._delivery or self._new_delivery()
        except Exception as error:  # noqa: BLE001  as where there are too many open files: tried again with the next ones
            self._stats.drop(type(error).__name__, len(outcomes), str(error))
        else:
            self._delivery.outcomes(outcomes)

    def _new_delivery(self) -> Delivery:
        found: Delivery = imported("summarykit.writing.delivery").Delivery(self._options, self.output, self.lineage, self._stats)
        return found

    def in_work(self) -> int:
        """Number of values that are worked on."""
        return self.executor.submitted - self.executor.completed

    def at_rest(self) -> bool:
        """Whether all is done and in the file."""
        return not self.in_work() and not self.output.behind_since

    def flushed(self) -> bool:
        """Whether nothing keeps what was delivered from being in the file."""
        return self.output.error is None

    def sync(self) -> bool:
        """Bring the files to the disk; True where everything is in them."""
        self.output.sync()
        return self.flushed()

    def work_here(self) -> bool:
        """From now on do everything in the calling thread: no worker and no thread is waited for. False where it is so already.

        It is as if the process were killed: what workers have of it they write when it is gone.
        """
        if isinstance(self.executor, InlineExecutor):
            return False
        left, executor, self.executor = self.in_work(), self.executor, InlineExecutor()
        if left:
            self._stats.drop("the process ended before it was worked on", left)
        else:
            executor.close()
        return True

    def close(self) -> list[Sync]:
        """Close the files; what brings them to the disk is given back."""
        self.executor.close()
        self.output.push()
        syncs = self.durable.prepare()
        self.output.close()
        self.lineage.close()
        return syncs

    def abandon(self) -> None:
        """In a forked child: let go of what is the parent's."""
        for let_go in (self.output.abandon, self.lineage.close, self.executor.abandon):
            with suppress(OSError):    # of a descriptor that somebody else has closed
                let_go()

    def _unsynced(self) -> Unsynced:
        files, paths = self.output.unsynced()
        return Unsynced(files + self.lineage.files(), paths)
