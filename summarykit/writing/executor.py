"""Where frozen values become shapes. One interface; here the thread that serves it within the process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from queue import Empty, SimpleQueue
from time import monotonic
from typing import NamedTuple, Protocol

from summarykit.shapes import Array, Point, Shape
from summarykit.writing.job import Task, is_light, is_small
from summarykit.writing.records import Records

BRING_SECS = 0.004
"""Seconds after which the thread brings what it has done to the files while there is more to do: large values then use the same memory."""

HERE_SECS = 0.02
"""Seconds that a turn of the pump spends on small tasks: they are not worth a thread, but scalars must not wait for thousands of them."""

GROUP = 64
"""Small tasks done together, at most."""


class Outcome(NamedTuple):
    """What became of a task: a point, or already its record for each format, or the reason why there is neither."""

    task: Task
    point: Point | None
    reason: str = ""
    records: Records | None = None


class Executor(Protocol):
    """Does tasks in the background and gives the outcomes back in the order in which the tasks came."""

    submitted: int
    completed: int

    def submit(self, task: Task) -> None:
        """Accept a task."""

    def outcomes(self) -> list[Outcome]:
        """What is done and was not given back yet."""

    def settle(self) -> None:
        """All that was given back is in the file, or lost for good."""

    def allocate(self, nbytes: int) -> Array | None:
        """Memory for a value to come, where there is better than the ordinary."""

    def close(self) -> None:
        """Accept no more; what is in work may be finished or not."""

    def abandon(self) -> None:
        """In a forked child: let go of what is the parent's."""


class Local:
    """What an executor that stays within this process does not need."""

    def settle(self) -> None:
        """Nobody else has to know."""

    def allocate(self, nbytes: int) -> Array | None:
        """The ordinary will do."""

    def abandon(self) -> None:
        """Its thread, if any, is not in the child."""


def perform(task: Task) -> Outcome:
    """Do one task. Whatever goes wrong costs that value alone."""
    job = task.job
    try:
        return _done(task, job.kind.reduce(job.snapshot))
    except BaseException as error:  # a kind may be anybody's code
        if _is_for_us(error):
            raise
        name = getattr(job.kind, "name", type(job.kind).__name__)
        return Outcome(task, None, f"{name}: {type(error).__name__}: {_message(error)}")


def perform_all(tasks: Sequence[Task]) -> list[Outcome]:
    """Do several; at one go those of one kind, step and time that says how, by a method ``reduce_many``."""
    found: list[Outcome] = []
    for _, alike in groupby(tasks, lambda task: (id(task.job.kind), task.step, task.wall_time)):
        found += _together(list(alike))
    return found


def _together(tasks: list[Task]) -> list[Outcome]:
    try:
        reduce_many = getattr(tasks[0].job.kind, "reduce_many", None)
        if reduce_many is not None and len(tasks) > 1:
            shapes = reduce_many([task.job.snapshot for task in tasks])
            return [_done(task, shape) for task, shape in zip(tasks, shapes, strict=True)]
    except BaseException as error:  # one by one it will be seen which of them it was
        if _is_for_us(error):
            raise
    return [*map(perform, tasks)]


def _done(task: Task, shape: Shape) -> Outcome:
    return Outcome(task, Point(task.job.kind.name, task.job.tag, task.step, task.wall_time, shape))


def _is_for_us(error: BaseException) -> bool:
    """Whether it is Ctrl-C, in the thread to which that comes."""
    import signal

    here = threading.current_thread() is threading.main_thread()
    return isinstance(error, KeyboardInterrupt) and here and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  its class may be anybody's code, too
        return "(it has no words)"


class ThreadExecutor(Local):
    """One thread, started with the first task."""

    def __init__(self, bring: Callable[[], None]) -> None:
        """``bring`` is called, from the thread, when outcomes are ready: with the last one, and now and then before that."""
        self.submitted = 0
        self.completed = 0
        self._bring = bring
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._here: list[Task] = []
        self._done: deque[Outcome] = deque()
        self._thread: threading.Thread | None = None
        self._queued = self._performed = 0    # by the thread
        self._spent = 0.0    # seconds here, since outcomes were taken

    def submit(self, task: Task) -> None:
        """Accept a task, to be done here where it is not worth a thread, or where none can be started any more."""
        self.submitted += 1
        if self._queued == self._performed and (self._worth_no_thread(task) or not self._start()):
            self._here.append(task)
            if len(self._here) >= GROUP:
                self._do_here()
        else:
            self._do_here()
            self._queued += 1
            self._tasks.put(task)

    def take_back(self) -> list[Task]:
        """The tasks that it has not begun, in order; they no longer count as submitted."""
        taken: list[Task] = []
        with suppress(Empty):
            while (task := self._tasks.get_nowait()) is not None:
                taken.append(task)
        self.submitted -= len(taken)
        self._queued -= len(taken)
        return taken

    def outcomes(self) -> list[Outcome]:
        """What is done and was not given back yet."""
        self._do_here()
        ready = [self._done.popleft() for _ in range(len(self._done))]
        self.completed += len(ready)
        self._spent = 0.0
        return ready

    def close(self) -> None:
        """End the thread after what it has."""
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join(timeout=1.0)

    def _worth_no_thread(self, task: Task) -> bool:
        return is_light(task.job) or (self._spent < HERE_SECS and is_small(task.job))

    def _do_here(self) -> None:
        """Do what was put off until more had come, or no more comes. Where Ctrl-C interrupts it, it is done in the next turn."""
        tasks, begun = self._here[:], monotonic()
        self._done.extend(perform_all(tasks))
        del self._here[: len(tasks)]
        self._spent += monotonic() - begun

    def _start(self) -> bool:
        if self._thread is not None:
            return True
        thread = threading.Thread(target=self._run, name="summarykit-reduce", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread = thread
        return True

    def _run(self) -> None:
        brought = 0.0
        while (task := self._tasks.get()) is not None:
            tasks = [task, *self._small_behind(task)]
            self._done.extend(perform_all(tasks))
            self._performed += len(tasks)
            if self._tasks.empty() or monotonic() - brought >= BRING_SECS:
                self._bring()
                brought = monotonic()

    def _small_behind(self, task: Task) -> Iterator[Task]:
        """The tasks that are done together with a small one: those behind it, up to one that is not small."""
        with suppress(Empty):
            for _ in range(GROUP - 1):
                if not is_small(task.job):
                    return
                following = self._tasks.get_nowait()
                if following is None:
                    self._tasks.put(None)
                    return
                yield (task := following)


class InlineExecutor(Local):
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
