"""The workers of one writer with the ring they read from, and the thread that tends them."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np

from summarykit.kinds.memory import LEAST_LENT
from summarykit.shapes import Array
from summarykit.writing.executor import Outcome
from summarykit.writing.hired import Hired
from summarykit.writing.job import Task
from summarykit.writing.messages import Do, Done, Place, Share, Withdraw, pack
from summarykit.writing.options import WriterOptions
from summarykit.writing.ring import Ring

LEAST_RING = 16 * 2**20
"""Bytes of the smallest ring."""

LARGEST_RING = 256 * 2**20
"""Bytes of the largest ring: as much as the buffer lets wait."""

MOST_FAILURES = 3
"""Workers that ended before they were ready, in a row, after which no more are started."""

_BACK_OFF_SECS = (0.0, 0.5, 2.0, 10.0, 60.0)    # before the next start, by the number of ends in a row
_STEADY_SECS = 60.0    # a worker that has lived so long makes the ends before it forgotten
_CRASHES = {getattr(signal, name, None) for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")}    # Windows has not all of them


class Crew:
    """What the pump calls: ``offer``, ``post``, ``settle``, and what it looks into: ``done``, ``returned``. All else runs in a thread.

    Attributes:
        done: outcomes, to be taken.
        returned: tasks that came back undone, with their numbers, to be taken.
        room: bytes that the ring should have.
        arrivals: how many workers have become ready so far.
        rings: how many rings there have been.
        short: a task was refused for want of room in the ring.
    """

    def __init__(self, options: WriterOptions, notify: Callable[[], None], say: Callable[..., None]) -> None:
        """Prepare ``options.num_process`` workers; ``notify`` is called when something is done or came back, ``say`` warns once by key."""
        self.done: deque[tuple[int, Outcome]] = deque()
        self.returned: deque[tuple[int, Task]] = deque()
        self.room = LEAST_RING
        self.arrivals = self.rings = 0
        self.short = False
        self._count = options.num_process
        self._options = options
        self._notify = notify
        self._say = say
        self._hired: list[Hired] = []
        self._rings: dict[int, Ring] = {}
        self._ring: Ring | None = None
        self._refused = False    # by the system: a larger ring
        self._ends = 0    # of workers, in a row
        self._failures = 0    # of those, before they were ready
        self._not_before = 0.0
        self._closing = False
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._run, name="summarykit-crew", daemon=True)

    # --- for the pump

    def start(self) -> bool:
        """Begin; False where no thread can be started any more."""
        try:
            self._thread.start()
        except RuntimeError:
            return False
        return True

    def fit(self, nbytes: int) -> None:
        """Let the ring be large enough for about two steps, each of so many bytes."""
        self.room = max(self.room, min(LARGEST_RING, nbytes * 9 // 4))

    def offer(self, number: int, task: Task, *, now: bool) -> bool:
        """Give a task to a worker; False where there is none, or it cannot be given away.

        Args:
            number: its place among all tasks.
            task: what to do.
            now: False where it is done here, and a worker shall only know of it in case this process dies.
        """
        with self._lock:
            free = [each for each in self._hired if each.ready]
            if not free:
                return False
            memory: list[Array] = []
            try:
                content, places = pack(task, partial(self._locate, memory=memory, copy=now))
            except Exception:  # noqa: BLE001  such as a value on a device, or a class of the user's own
                return False
            min(free, key=lambda each: each.load).order(Do(number, content, places, now), task, (task, memory))
            return True

    def post(self) -> None:
        """Send what was offered and settled."""
        with self._lock:
            for each in self._hired:
                if each.ready:
                    each.post()
            if self._waiting() or self._too_small():
                self.wake()

    def settle(self, before: int) -> None:
        """All tasks of lower numbers are in the file."""
        with self._lock:
            for each in self._hired:
                each.settle(before)
        self.post()

    def close(self) -> None:
        """Dismiss the workers."""
        self._closing = True
        self.wake()
        self._thread.join(timeout=3.0)

    def abandon(self) -> None:
        """In a forked child: let go of what is the parent's."""
        for each in self._hired:
            each.abandon()
        for ring in self._rings.values():
            ring.close()
        wake, self._wake, self._ring = self._wake, -1, None
        if wake >= 0:
            os.close(wake)
        for held in (self._hired, self._rings, self.done, self.returned):
            held.clear()    # the parent's thread does not end here, and would keep them

    def wake(self) -> None:
        """Let the thread look after everything at once."""
        with self._lock, suppress(OSError):
            if self._wake >= 0:
                os.eventfd_write(self._wake, 1)

    # --- for any thread

    def allocate(self, nbytes: int) -> Array | None:
        """Lend memory of the ring."""
        ring = self._ring
        if ring is None:
            return None
        lent = ring.allocate(nbytes)
        if lent is None and self.room <= ring.capacity:
            self.room = min(LARGEST_RING, max(2 * ring.capacity, nbytes))
        return lent

    # --- in the thread

    def _run(self) -> None:
        try:
            while not self._closing:
                self._tend()
                self._listen()
                self._kill_silent()
        except Exception as error:  # noqa: BLE001  without workers all goes on in a thread
            self._say("crew", "internal error, please report it: %r", error)
            self._count = 0
        finally:
            self._end()

    def _tend(self) -> None:
        if len(self._hired) < self._count and time.monotonic() >= self._not_before:
            self._hire()    # before its ring is made, so that it imports meanwhile
        if self._too_small():
            self._enlarge()
        self._retire()

    def _too_small(self) -> bool:
        return not self._refused and (self._ring is None or self._ring.capacity < self.room)

    def _enlarge(self) -> None:
        try:
            ring = Ring(self.room)
        except (OSError, MemoryError, ValueError) as error:
            self._refused = True
            self._say("ring", "no memory to share with worker processes (%s); what has no place is worked on in a thread", error)
            if self._ring is None:
                self._count = 0
                self._dismiss()
            return
        with self._lock:
            self._rings[ring.fd] = self._ring = ring
            for each in self._hired:
                each.tell(Share(ring.fd, ring.capacity), (ring.fd,))
            self.rings += 1
        self._notify()
        ring.populate()

    def _retire(self) -> None:
        """Close rings that a larger one has replaced, once nothing in them is needed."""
        for number in [number for number, ring in self._rings.items() if ring is not self._ring and ring.empty()]:
            with self._lock:
                self._rings.pop(number).close()
                for each in self._hired:
                    each.tell(Withdraw(number))
                    each.post()

    def _hire(self) -> None:
        try:
            hired = Hired(self._options)
        except OSError as error:
            self._failed(str(error))
            return
        with self._lock:
            for number, ring in self._rings.items():
                hired.tell(Share(number, ring.capacity), (number,))
            self._hired.append(hired)

    def _failed(self, why: str) -> None:
        """A worker did not come, or went."""
        self._not_before = time.monotonic() + _BACK_OFF_SECS[min(self._ends, len(_BACK_OFF_SECS) - 1)]
        self._ends += 1
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._count = 0
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
        with self._lock:
            times = [each.deadline() for each in self._hired]
        if len(self._hired) < self._count:
            times.append(self._not_before)
        if len(self._rings) > 1:
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
            self._failures = -1
            self._ends = 0 if hired.age > _STEADY_SECS else self._ends
            self._say("worker", "a worker process ended (signal %d); its values are worked on here, and another one is started", signum)
        self._failed(f"signal {signum}" if signum else "it ended at once")
        self._notify()

    def _waiting(self) -> bool:
        return any(each.channel.waiting for each in self._hired)

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
            self._ring = None
            for ring in self._rings.values():
                ring.close()
            os.close(self._wake)
            self._wake = -1
        self._notify()

    # --- for `pack`

    def _locate(self, data: memoryview, memory: list[Array], *, copy: bool) -> Place | None:
        """Where a buffer lies in a ring; a large one that does not is copied there."""
        for number, ring in self._rings.items():
            start = ring.locate(data)
            if start is not None:
                return Place(number, start, data.nbytes)
        if data.nbytes < LEAST_LENT:    # it travels in the message
            return None
        lent = self.allocate(data.nbytes) if copy else None
        if lent is None:
            self.short = copy
            raise BufferError("no room in the ring")
        np.copyto(lent, np.frombuffer(data, np.uint8))
        memory.append(lent)
        return self._locate(lent.data, memory, copy=False)
