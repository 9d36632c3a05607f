"""The executor with worker processes: a thread of this process as long as that will do, then workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from summarykit.shapes import Array
from summarykit.writing.executor import Executor, Outcome, ThreadExecutor, perform
from summarykit.writing.job import Task, is_light
from summarykit.writing.options import WriterOptions

if TYPE_CHECKING:
    from summarykit.writing.crew import Crew

START_BYTES = 64 * 2**20
"""Bytes after which workers are started: a short job does not pay for them."""

LIGHTER = 8
"""A kind without heavy work has to bring so many times as much."""

START_SECS = 0.25
"""Age of the oldest task in the thread at which workers are started before that."""


def executor_for(options: WriterOptions, bring: Callable[[], None], notify: Callable[[], None], say: Callable[..., None]) -> Executor:
    """The executor for ``options.num_process`` workers (see `ProcessExecutor`)."""
    return ProcessExecutor(options, bring, notify, say) if options.num_process else ThreadExecutor(bring)


class ProcessExecutor:
    """Gives each task to whom it suits, and the outcomes back in the order of the tasks."""

    def __init__(self, options: WriterOptions, bring: Callable[[], None], notify: Callable[[], None], say: Callable[..., None]) -> None:
        """Nothing is started yet.

        Args:
            options: of the writer.
            bring: called by the thread when outcomes of its own are ready.
            notify: called when outcomes of workers may be ready.
            say: warns once by key.
        """
        self.submitted = 0
        self.completed = 0
        self._options = options
        self._notify = notify
        self._say = say
        self._thread = ThreadExecutor(bring)
        self._crew: Crew | None = None
        self._hindered = False
        self._open: deque[tuple[Task, float]] = deque()    # all that is not given back, in order, and when it came: a wall time may be any
        self._numbers: dict[Task, int] = {}
        self._done: dict[int, Outcome] = {}
        self._work = 0.0
        self._batch, self._batch_bytes = (0, 0.0), 0
        self._seen = (0, 0)
        self._settled = self._asked = 0    # so many tasks

    def submit(self, task: Task) -> None:
        """Accept a task."""
        number, self._numbers[task] = self.submitted, self.submitted
        self.submitted += 1
        self._open.append((task, monotonic()))
        light = is_light(task.job)
        self._measure(task, light)
        if light:
            self._done[number] = perform(task)
        if not (self._crew and self._crew.offer(number, task, now=not light)) and not light:
            self._thread.submit(task)

    def outcomes(self) -> list[Outcome]:
        """What is done and was not given back yet, up to the first task that is not done."""
        self._start_in_time()
        self._collect()
        ready = []
        while (outcome := self._done.pop(self.completed, None)) is not None:
            del self._numbers[self._open.popleft()[0]]
            self.completed += 1
            ready.append(outcome)
        return ready

    def settle(self) -> None:
        """All that was given back is in the file."""
        if self._crew and self._settled < self.completed:
            self._settled = self.completed
            self._crew.settle(self.completed)

    def allocate(self, nbytes: int) -> Array | None:
        """Memory that the workers read, once there is one: what the thread has would lie there before older values, and keep it full."""
        crew = self._crew
        return crew.rings.allocate(nbytes) if crew and crew.arrivals else None

    def close(self) -> None:
        """End the thread and the workers."""
        crew, self._crew = self._crew, None
        if crew:
            crew.close()
        self._thread.close()

    def abandon(self) -> None:
        """In a forked child: let go of what is the parent's."""
        if self._crew:
            self._crew.abandon()

    def _measure(self, task: Task, light: bool) -> None:
        """Note how much there is to do."""
        nbytes = task.job.nbytes
        if (task.step, task.wall_time) != self._batch:    # those of one record() have it in common
            self._batch, self._batch_bytes = (task.step, task.wall_time), 0
        self._batch_bytes += nbytes
        self._work += nbytes / LIGHTER if light else nbytes
        if self._crew:
            self._crew.rings.fit(self._batch_bytes)

    def _start_in_time(self) -> None:
        """Start workers once there is enough to do; that is known when all of a step has come."""
        asked, self._asked = self._asked, self.submitted
        if asked != self.submitted and not self._crew and not self._hindered and (self._work >= START_BYTES or self._late()):
            self._start()

    def _late(self) -> bool:
        return bool(self._open) and monotonic() - self._open[0][1] > START_SECS

    def _start(self) -> None:
        from summarykit.writing.crew import Crew  # most runs have no workers
        from summarykit.writing.hired import hindrance

        why = hindrance()
        if why:
            self._hindered = True
            self._say("no worker", "heavy values are worked on in a thread, not in a worker process: %s", why)
            return
        try:
            crew = Crew(self._options, self._notify, self._say)
        except OSError as error:    # such as too many open files
            self._hindered = True
            self._say("no worker", "heavy values are worked on in a thread, not in a worker process: %s", error)
            return
        crew.rings.fit(self._batch_bytes)
        if crew.start():
            self._crew = crew
        else:
            self._hindered = True

    def _collect(self) -> None:
        """Take what the thread and the workers have done; what comes back undone goes to the thread."""
        for outcome in self._thread.outcomes():
            self._done[self._numbers[outcome.task]] = outcome
        crew = self._crew
        if crew is None:
            return
        while crew.returned:
            self._thread.submit(crew.returned.popleft()[1])
        answered = bool(crew.done)
        while crew.done:
            number, outcome = crew.done.popleft()
            self._done[number] = outcome
        seen, self._seen = self._seen, (crew.arrivals, crew.rings.made)
        if seen != self._seen or (answered and crew.short):    # a new worker, a larger ring, room in it: they may take what waits here
            crew.short = False
            self._hand_over(crew)
        crew.post()

    def _hand_over(self, crew: Crew) -> None:
        """What still waits for the thread goes to the workers."""
        for task in self._thread.take_back():
            if not crew.offer(self._numbers[task], task, now=True):
                self._thread.submit(task)
