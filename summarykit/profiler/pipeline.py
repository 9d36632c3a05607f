"""An input pipeline of chained Python iterables, stage by stage: which of them the training waits for.

::

    records = stage("read", read(files))
    images = stage("decode", (decode(record) for record in records))
    batches = buffered("prefetch", batched(images, 32), size=4)       # made ahead by a thread
    for batch in batches:
        ...

While no window is open a stage costs one call for each item. In a window each ``next`` is a span, who pulls from whom is seen by
itself, and the sizes of the queues are noted: what MindSpore's pipeline view shows of its own data sets.
"""

from __future__ import annotations

import itertools
import queue
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from summarykit.whole import check_integer

T = TypeVar("T")

_numbers = itertools.count()
stages: weakref.WeakSet[Stage[Any]] = weakref.WeakSet()
"""All stages of this process, for the collector."""


class Stage(Generic[T]):
    """An iterable that is one stage of a pipeline.

    Attributes:
        number: tells it from all others of this process.
        name: of the stage.
        workers: how many threads or processes work for it.
        capacity: of the queue that it takes its items from; 0 where there is none.
        advance: gives the next item of an iterator; a collector puts its own in this place.
    """

    capacity = 0

    def __init__(self, name: str, source: Iterable[T], workers: int) -> None:
        """Use ``stage`` or ``buffered``."""
        if not isinstance(name, str) or not name:
            raise TypeError(f"name: a text is needed, got {name!r}")
        self.number = next(_numbers)
        self.name = name
        self.workers = check_integer("workers", workers, 1)
        self.advance: Callable[[Any], Any] = next
        self._source = source
        stages.add(self)

    def __iter__(self) -> Iterator[T]:
        return _Pass(self, iter(self._source))

    def __len__(self) -> int:
        return len(self._source)    # type: ignore[arg-type]  # raises what the source raises

    def queued(self) -> int:
        """Items in its queue; 0 where there is none."""
        return 0


class Buffered(Stage[T]):
    """A stage whose items a thread makes ahead."""

    def __init__(self, name: str, source: Iterable[T], size: int) -> None:
        """Use ``buffered``."""
        capacity = check_integer("size", size, 1)    # first: a stage is known from its making on
        super().__init__(name, source, 1)
        self.capacity = capacity
        self._items: queue.Queue[Any] = queue.Queue(self.capacity)
        self.pull: Callable[[Any], Any] = next
        """Like ``advance``, for the thread that fills the queue."""

    def __iter__(self) -> Iterator[T]:
        self._items = queue.Queue(self.capacity)
        return _Pass(self, _Ahead(self, iter(self._source), self._items))

    def queued(self) -> int:
        """Items that are ready."""
        return self._items.qsize()


def stage(name: str, source: Iterable[T], *, workers: int = 1) -> Stage[T]:
    """Watch an iterable as a stage of a pipeline.

    Args:
        name: of the stage.
        source: gives the items: one pass for each ``iter()`` of the stage.
        workers: how many threads or processes make them, where the source has some.
    """
    return Stage(name, source, workers)


def buffered(name: str, source: Iterable[T], *, size: int = 2) -> Buffered[T]:
    """Have a thread make the items ahead.

    Args:
        name: of the stage.
        source: gives the items; an exception of it is raised where the item would have come.
        size: items that are ready at most.
    """
    return Buffered(name, source, size)


class _Pass(Iterator[T]):
    """One pass through a stage."""

    def __init__(self, stage: Stage[T], iterator: Iterator[T]) -> None:
        self._stage, self._iterator = stage, iterator

    def __next__(self) -> T:
        item: T = self._stage.advance(self._iterator)
        return item


class _Ahead(Iterator[T]):
    """Takes from a queue what a thread puts there; the thread ends with the source, or when nobody wants its items any more."""

    def __init__(self, stage: Buffered[T], source: Iterator[T], items: queue.Queue[Any]) -> None:
        self._items = items
        self._over: BaseException | None = None
        unwanted = threading.Event()
        weakref.finalize(self, unwanted.set)
        threading.Thread(target=_fill, args=(stage, source, items, unwanted), name=f"pipeline {stage.name}", daemon=True).start()

    def __next__(self) -> T:
        if self._over is None:
            item, self._over = self._items.get()
            if self._over is None:
                return item
        raise self._over


def _fill(stage: Buffered[Any], source: Iterator[Any], items: queue.Queue[Any], unwanted: threading.Event) -> None:
    over: BaseException | None = None
    while over is None:
        item = None
        try:
            item = stage.pull(source)
        except BaseException as error:  # noqa: BLE001 - it is raised where the item would have come
            over = error
        if not _put(items, (item, over), unwanted):
            return


def _put(items: queue.Queue[Any], entry: tuple[Any, BaseException | None], unwanted: threading.Event) -> bool:
    while not unwanted.is_set():
        try:
            items.put(entry, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False
