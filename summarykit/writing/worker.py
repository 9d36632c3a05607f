"""A worker process: does the tasks of one trainer, and finishes them if that dies.

It keeps every task, and what became of it, until the trainer says that it is settled. So when the trainer is gone (which a descriptor of
that process tells: neither a zombie nor a forked child that holds the socket hides it), all that is not yet in its files is here.
"""

from __future__ import annotations

import mmap
import os
import select
import struct
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from summarykit.formats import FORMATS
from summarykit.shapes import Embedding, Graph, Lineage, Scalar, Tensor
from summarykit.writing.channel import Channel
from summarykit.writing.executor import perform
from summarykit.writing.mapped import Mapped
from summarykit.writing.messages import Do, Done, End, Hello, Place, Ready, Settled, Share, Withdraw, unpack
from summarykit.writing.options import WriterOptions
from summarykit.writing.records import joined, lay_out

_TELL_SECS = 0.05    # that a result waits for others: each message wakes two threads of the trainer, with cold caches, beside its loop
_DYING_SECS = 2.0    # between the end of the trainer's socket and the end of the trainer itself


@dataclass
class Open:
    """A task that is not settled, and what became of it so far."""

    order: Do
    done: Done | None = None


class Worker:
    """What runs in the process."""

    def __init__(self, channel: Channel, trainer: int, desk: mmap.mmap) -> None:
        """``trainer`` is a descriptor of the trainer's process; on the ``desk`` it sees which task this one is at."""
        self._channel = channel
        self._trainer = trainer
        self._desk = desk
        self._options: WriterOptions | None = None
        self._open: dict[int, Open] = {}
        self._due: deque[int] = deque()
        self._rings: dict[int, memoryview] = {}
        self._results: list[Done] = []
        self._oldest = 0.0    # when the first of them was there
        self._over = self._alone = False
        self._handlers: dict[type, Callable[[Any], None]] = {
            Hello: self._hello, Share: self._share, Withdraw: self._withdraw, Do: self._do, Settled: self._settle, End: self._end,
        }  # fmt: skip

    def serve(self) -> None:
        """Work until the trainer says that it is enough, or dies; then finish what it left."""
        self._channel.send([Ready()])
        while not self._over:
            self._listen()
            self._work()
        if self._alone and self._options is not None:
            from summarykit.writing.orphan import write_left

            write_left(self._options, [self._completed(each) for each in self._open.values()])

    # --- what comes

    def _listen(self) -> None:
        """Take what has come; where there is nothing to do, wait for more."""
        poll = select.poll()
        poll.register(self._channel.socket, select.POLLIN | (select.POLLOUT if self._channel.waiting else 0))
        poll.register(self._trainer, select.POLLIN)
        ready = dict(poll.poll(0 if self._due else None))
        alone = self._trainer in ready    # asked before the messages are read: the last ones of a dead trainer must be among them
        for messages in self._channel.receive():
            for message in messages:
                self._handlers[type(message)](message)
        if alone or (self._channel.ended and not self._over):
            self._alone = alone or _gone(self._trainer, _DYING_SECS)
            self._over = True
        elif self._channel.waiting:
            self._channel.flush()

    def _hello(self, message: Hello) -> None:
        self._options = message.options
        self._layouts = [FORMATS.get(name)() for name in message.options.formats]

    def _share(self, message: Share) -> None:
        descriptor = self._channel.descriptors.popleft()
        self._rings[message.ring] = Mapped(descriptor, message.capacity, mmap.PROT_READ).memory
        os.close(descriptor)

    def _withdraw(self, message: Withdraw) -> None:
        del self._rings[message.ring]

    def _do(self, order: Do) -> None:
        self._open[order.number] = Open(order)
        if order.now:
            self._due.append(order.number)

    def _settle(self, message: Settled) -> None:
        for number in [number for number in self._open if number < message.before]:
            del self._open[number]

    def _end(self, _: End) -> None:
        self._over = True

    # --- what goes

    def _work(self) -> None:
        """Do the next task, and tell of those that are done."""
        if self._due and not self._over and (open_ := self._open.get(self._due.popleft())):
            self._desk[:] = struct.pack("<Q", open_.order.number + 1)
            open_.done = self._perform(open_.order)
            self._desk[:] = bytes(8)
            self._oldest = self._oldest if self._results else time.monotonic()
            self._results.append(open_.done)
        if self._results and not self._over and (not self._due or time.monotonic() - self._oldest > _TELL_SECS):
            results, self._results = self._results, []
            try:
                self._channel.send(results)
            except OSError:    # the trainer is gone; the next look at its descriptor says so
                self._channel.ended = True

    def _read(self, place: Place) -> memoryview:
        return self._rings[place.ring][place.start : place.start + place.nbytes]

    def _perform(self, order: Do) -> Done:
        try:
            task = unpack(order, self._read)
        except Exception:  # noqa: BLE001  whatever cannot be imported here is for the trainer, which has it
            return Done(order.number)
        outcome = perform(task)
        if outcome.point is None:
            return Done(order.number, reason=outcome.reason)
        if isinstance(outcome.point.value, Embedding | Graph | Lineage | Scalar | Tensor):
            return Done(order.number, point=outcome.point)
        try:
            laid = lay_out(outcome.point, self._layouts)
        except Exception as error:  # noqa: BLE001  such as a MemoryError: it costs this value alone
            return Done(order.number, reason=f"{outcome.point.kind}: {type(error).__name__}: {error}")
        return Done(order.number, records=joined(laid))

    def _completed(self, open_: Open) -> Done:
        return open_.done or self._perform(open_.order)


def _gone(process: int, seconds: float) -> bool:
    """Whether a process ends within so many seconds."""
    return bool(select.select([process], [], [], seconds)[0])
