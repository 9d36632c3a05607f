"""The workers of one writer, and the thread that tends them: hires, listens, kills the silent, buries the dead."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections import deque
from collections.abc import Callable

from summarykit.writing.executor import Outcome
from summarykit.writing.hired import Hired
from summarykit.writing.job import Task
from summarykit.writing.messages import Done
from summarykit.writing.options import WriterOptions
from summarykit.writing.staff import Staff
from summarykit.writing.vacancies import Vacancies

_CRASHES = {getattr(signal, name, None) for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")}    # Windows has not all of them


class Crew(Staff):
    """What the pump calls: ``offer``, ``post``, ``settle``, and what it looks into: ``done``, ``returned``. All else runs in a thread.

    Attributes:
        done: outcomes, to be taken.
        returned: tasks that came back undone, with their numbers, to be taken.
        arrivals: how many workers have become ready so far.
    """

    def __init__(self, options: WriterOptions, notify: Callable[[], None], say: Callable[..., None]) -> None:
        """Prepare ``options.num_process`` workers; ``notify`` is called when something is done or came back, ``say`` warns once by key."""
        super().__init__(say)
        self.done: deque[tuple[int, Outcome]] = deque()
        self.returned: deque[tuple[int, Task]] = deque()
        self.arrivals = 0
        self._options = options
        self._notify = notify
        self._say = say
        self._vacancies = Vacancies(options.num_process)
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="summarykit-crew", daemon=True)

    # --- for the pump

    def start(self) -> bool:
        """Begin; False where no thread can be started any more."""
        try:
            self._thread.start()
        except RuntimeError:
            return False
        return True

    def close(self) -> None:
        """Dismiss the workers."""
        self._closing = True
        self.wake()
        self._thread.join(timeout=3.0)

    def abandon(self) -> None:
        """In a forked child: let go of what is the parent's."""
        for each in self._hired:
            each.abandon()
        self.rings.close()
        wake, self._wake = self._wake, -1
        if wake >= 0:
            os.close(wake)
        for held in (self._hired, self.done, self.returned):
            held.clear()    # the parent's thread does not end here, and would keep them

    # --- in the thread

    def _run(self) -> None:
        try:
            while not self._closing:
                self._tend()
                self._listen()
                self._kill_silent()
        except Exception as error:  # noqa: BLE001  without workers all goes on in a thread
            self._say("crew", "internal error, please report it: %r", error)
            self._vacancies.posts = 0
        finally:
            self._end()

    def _tend(self) -> None:
        if self._vacancies.open(len(self._hired)):
            self._hire()    # before its ring is made, so that it imports meanwhile
        with self._lock:
            if self.rings.too_small():
                self.rings.enlarge()
                self._notify()
            if not len(self.rings) and self.rings.refused:
                self._vacancies.posts = 0
                self._dismiss()
        if self.rings.cold:
            self.rings.warm_up()
        with self._lock:
            self.rings.retire()

    def _hire(self) -> None:
        try:
            hired = Hired(self._options)
        except OSError as error:
            self._failed(str(error))
            return
        with self._lock:
            self.rings.share(hired)
            self._hired.append(hired)

    def _failed(self, why: str) -> None:
        if self._vacancies.failed():
            self._say("no worker", "no worker process can be had (%s); heavy values are worked on in a thread", why)

    def _kill_silent(self) -> None:
        with self._lock:
            for each in self._hired:
                deadline = each.deadline()
                if deadline is not None and time.monotonic() > deadline:
                    each.kill()

    def _listen(self) -> None:
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        for each in self._hired:
            poll.register(each.channel.socket, select.POLLIN | (select.POLLOUT if each.channel.waiting else 0))
            poll.register(each.process, select.POLLIN)
        ready = dict(poll.poll(self._patience()))
        if self._wake in ready:
            os.eventfd_read(self._wake)
        for each in list(self._hired):
            self._hear(each)
            if each.process in ready:
                self._bury(each)
            elif each.channel.waiting:
                with self._lock:
                    each.post()

    def _patience(self) -> float | None:
        """Milliseconds until something is to be done without being told."""
        if self.rings.cold:
            return 0.0
        with self._lock:
            times = [each.deadline() for each in self._hired]
        if len(self._hired) < self._vacancies.posts:
            times.append(self._vacancies.not_before)
        if len(self.rings) > 1:
            times.append(time.monotonic() + 1.0)
        due = [each for each in times if each is not None]
        return max(0.0, min(due) - time.monotonic()) * 1000 + 1 if due else None

    def _hear(self, hired: Hired) -> None:
        was_ready = hired.ready
        with self._lock:
            answers = list(hired.listen())
        for task, done in answers:
            self._take(task, done)
        self.arrivals += hired.ready and not was_ready
        if answers or hired.ready != was_ready:
            self._notify()

    def _take(self, task: Task, done: Done) -> None:
        if done.records is None and done.point is None and not done.reason:
            self.returned.append((done.number, task))
        else:
            self.done.append((done.number, Outcome(task, done.point, done.reason, done.records)))

    def _bury(self, hired: Hired) -> None:
        """A worker has ended: what it did not finish comes back, but for a value that it crashed on."""
        with self._lock:
            self._hired.remove(hired)
            left, at = dict(hired.doing), hired.at()
            signum = hired.bury()
        if signum in _CRASHES and at in left:
            task = left.pop(at)
            self.done.append((at, Outcome(task, None, f"{task.job.kind.name}: a worker process crashed on it (signal {signum})")))
        self.returned.extend(left.items())
        if hired.ready:
            self._vacancies.ended(hired.age)
            self._say("worker", "a worker process ended (signal %d); its values are worked on here, and another one is started", signum)
        else:
            self._failed(f"signal {signum}" if signum else "it ended at once")
        self._notify()

    def _dismiss(self) -> None:
        """Let all workers go; what they did not finish comes back."""
        with self._lock:
            leaving, self._hired = self._hired, []
            for each in leaving:
                self.returned.extend(each.doing.items())
                each.dismiss()
            for each in leaving:
                each.bury()

    def _end(self) -> None:
        self._dismiss()
        with self._lock:
            self.rings.close()
            os.close(self._wake)
            self._wake = -1
        self._notify()
