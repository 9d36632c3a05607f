"""Where frozen values become shapes. One interface; here the thread that serves it within the process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple, Protocol

from summarykit.shapes import Point
from summarykit.writing.job import Task


class Outcome(NamedTuple):
    """What became of a task: a point, or the reason why there is none."""

    task: Task
    point: Point | None
    reason: str = ""


class Executor(Protocol):
    """Does tasks in the background and gives the outcomes back in the order in which the tasks came."""

    submitted: int
    completed: int

    def submit(self, task: Task) -> None:
        """Accept a task."""

    def outcomes(self) -> list[Outcome]:
        """What is done and was not given back yet."""

    def close(self) -> None:
        """Accept no more; what is in work may be finished or not."""


def perform(task: Task) -> Outcome:
    """Do one task. Whatever goes wrong costs that value alone."""
    job = task.job
    try:
        shape = job.kind.reduce(job.snapshot)
    except Exception as error:  # noqa: BLE001  a kind may be anybody's code
        return Outcome(task, None, f"{job.kind.name}: {type(error).__name__}: {error}")
    return Outcome(task, Point(job.kind.name, job.tag, task.step, task.wall_time, shape))


class ThreadExecutor:
    """One thread, started with the first task."""

    def __init__(self, notify: Callable[[], None]) -> None:
        """``notify`` is called, from the thread, whenever an outcome is ready."""
        self.submitted = 0
        self.completed = 0
        self._notify = notify
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._done: deque[Outcome] = deque()
        self._thread: threading.Thread | None = None

    def submit(self, task: Task) -> None:
        """Accept a task; where no thread can be started any more, do it here."""
        self.submitted += 1
        if self._thread is None and not self._start():
            self._done.append(perform(task))
        else:
            self._tasks.put(task)

    def outcomes(self) -> list[Outcome]:
        """What is done and was not given back yet."""
        ready = [self._done.popleft() for _ in range(len(self._done))]
        self.completed += len(ready)
        return ready

    def close(self) -> None:
        """End the thread after what it has."""
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join(timeout=1.0)

    def _start(self) -> bool:
        thread = threading.Thread(target=self._run, name="summarykit-reduce", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread = thread
        return True

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            self._done.append(perform(task))
            self._notify()


class InlineExecutor:
    """Does each task at once, in the calling thread: at the end of the interpreter no thread can be started."""

    def __init__(self) -> None:
        self.submitted = 0
        self.completed = 0
        self._done: list[Outcome] = []

    def submit(self, task: Task) -> None:
        """Do a task."""
        self.submitted += 1
        self._done.append(perform(task))

    def outcomes(self) -> list[Outcome]:
        """What is done and was not given back yet."""
        ready, self._done = self._done, []
        self.completed += len(ready)
        return ready

    def close(self) -> None:
        """Nothing to end."""
