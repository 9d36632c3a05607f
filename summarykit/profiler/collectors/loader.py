"""The input pipeline of PyTorch: time in ``next(iterator)`` with the iterator's construction and first batch, queues, workers."""

from __future__ import annotations

import functools
import sys
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from summarykit.profiler.collectors.instrument import Hooked, Instrument
from summarykit.profiler.names import NAMES
from summarykit.profiler.phases import DATA_WAIT

_FACTS = ("num_workers", "batch_size", "prefetch_factor", "pin_memory", "persistent_workers")
_QUEUE = NAMES.number("queue/dataloader")


class LoaderInstrument(Instrument):
    """Wraps ``DataLoader.__iter__`` and its iterators' ``__next__``.

    Attributes:
        loaders: what is known of each loader that was used, by its identity.
        workers: numbers of the worker processes that were seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loaders: dict[int, dict[str, Any]] = {}
        self.workers: set[int] = set()
        self._queues: dict[int, Any] = {}

    def install(self) -> None:
        """See ``Instrument``."""
        module = sys.modules["torch.utils.data.dataloader"]
        self.loaders, self._queues = {}, {}
        self.patches.replace(module.DataLoader, "__iter__", self._iter)
        self.patches.replace(module._BaseDataLoaderIter, "__next__", self._next)

    def remove(self) -> None:
        """See ``Instrument``."""
        super().remove()
        self._queues = {}

    def _iter(self, original: Any) -> Any:
        timed = self.timed(DATA_WAIT)(original)

        @functools.wraps(original)
        def construct(loader: Any) -> Any:
            """Make an iterator, and know it again."""
            iterator = timed(loader)
            self.loaders[id(loader)] = _facts(loader)
            self._meet(iterator)
            return iterator

        return construct

    def _next(self, original: Any) -> Any:
        @functools.wraps(original)
        def following(iterator: Any) -> Any:
            """The next batch, measured."""
            begun = perf_counter_ns()
            queue = self._queues.get(id(iterator), False)
            if queue:
                self._count(begun, queue)
            try:
                return original(iterator)
            finally:
                self.span((DATA_WAIT, get_ident(), begun, perf_counter_ns()))
                if queue is False:    # made before the window was opened
                    self.loaders[id(iterator)] = _facts_of(iterator)
                    self._meet(iterator)

        return following

    def _meet(self, iterator: Any) -> None:
        """Look once at an iterator: has it a queue, and who fills that?"""
        self._queues[id(iterator)] = getattr(iterator, "_data_queue", None)
        self.workers.update(worker.pid for worker in getattr(iterator, "_workers", ()) if worker.pid)

    def _count(self, now: int, queue: Any) -> None:
        try:
            size = queue.qsize()
        except (NotImplementedError, OSError):    # macOS has none; a loader that is shut down has no queue any more
            return
        for tape in self.tapes:
            tape.counters.add((now, _QUEUE, float(size)))


def _facts_of(iterator: Any) -> dict[str, Any]:
    """The same as ``_facts``, as far as an iterator knows it."""
    facts = {name: getattr(iterator, f"_{name}", None) for name in _FACTS}
    size = getattr(getattr(iterator, "_index_sampler", None), "batch_size", None)
    return {**facts, "batch_size": size, "dataset": type(getattr(iterator, "_dataset", None)).__name__}


def _facts(loader: Any) -> dict[str, Any]:
    facts = {name: getattr(loader, name, None) for name in _FACTS}
    return {**facts, "dataset": type(loader.dataset).__name__}


class Loader(Hooked):
    """Data waits of ``torch.utils.data.DataLoader``, the depth of its queue, and its worker processes."""

    key = "input"
    instrument = LoaderInstrument()

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return "torch.utils.data.dataloader" in sys.modules

    def start(self) -> None:
        """See ``Collector``."""
        super().start()
        self.site.workers = self.instrument.workers

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"loaders": list(self.instrument.loaders.values())}
