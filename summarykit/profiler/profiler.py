"""The profiler as its user sees it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from summarykit.profiler.controller import Controller
from summarykit.profiler.plan import Plan
from summarykit.profiler.scheduling import Schedule
from summarykit.whole import whole

if TYPE_CHECKING:
    from summarykit.profiler.analysis import Report

MAX_BYTES = 256 << 20


class Profiler(Controller):
    """Says where the time of a step goes.

    ::

        profiler = Profiler("./summary/profiler", start_profile=False)
        with Loop(..., callbacks=[StopAtStep(10, 20, profiler=profiler)]) as loop:
            ...
        print(profiler.analyse())

    or by hand, in any loop::

        with Profiler("./summary/profiler") as profiler:
            for batch in batches:
                with profiler.phase("forward"):      # where nothing tells of the phases by itself
                    ...
                profiler.step()                      # a step ends here
        profiler.analyse()

    What is recorded between a start and a stop is a window, a directory ``window_0001`` and so on; several profilers may record at
    a time, each its own. Steps are told by ``Loop``, by the callbacks ``StopAtStep`` and ``StopAtEpoch`` in any framework, or by
    ``step()``; where nobody does, PyTorch's optimizers do. Phases of PyTorch and its data loaders are seen without a line of code.
    Nothing of this raises in the training: what could not be done is said in the log.
    """

    def __init__(
        self,
        output_path: str | os.PathLike[str] = "./data",
        start_profile: bool = True,
        *,
        collectors: str | Iterable[str] = "auto",
        schedule: Schedule | None = None,
        max_bytes: int = MAX_BYTES,
        max_seconds: float | None = None,
        keep: str = "oldest",
        max_overhead: float = 0.05,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        """Make a profiler, and start it.

        Args:
            output_path: where windows are written; made when the first one is.
            start_profile: False: ``start()`` or a callback starts it.
            collectors: ``"auto"``: whatever the program has something for; or names: mindspore, jax, kineto, system, gpu,
                cuda_memory, gc, stacks, pipeline, input, torch, sync, communication, logging. Steps are always recorded.
            schedule: which steps are recorded, by ``schedule(...)``; every step then ends with ``step()``.
            max_bytes: of the records of one window, 64 KiB or more; the limit of a trace by PyTorch, too.
            max_seconds: of one window; None: no limit.
            keep: what is kept of a window that passes a limit: its ``"oldest"`` part (recording ends there) or its ``"newest"``.
            max_overhead: share of the time that one collector may take, above 0 and up to 1. One that takes more looks more rarely, or is
                switched off for the rest of the window, where that is no short burst; it is said once, and in the report.
            rank: of this process, where neither ``torch.distributed`` nor the environment (RANK, WORLD_SIZE) knows.
            world_size: number of processes.

        Raises:
            TypeError, ValueError: the message names the argument, what came and what is allowed.
        """
        super().__init__(Plan.checked(output_path, collectors, schedule, max_bytes, max_seconds, keep, max_overhead, rank, world_size))
        if not isinstance(start_profile, bool):
            raise TypeError(f"start_profile: True or False is needed, got {start_profile!r}")
        self._started = False
        if start_profile:
            self.start()

    def start(self) -> None:
        """Open a window, or follow the schedule from here on. Started already, nothing changes, and that is said."""
        if self._started:
            self.notices.once("start", "Profiler.start(): it is started already, nothing changes")
        elif self._plan.schedule is not None:
            self._started = True
            self.arm()
        else:
            self._started = self.open()

    def stop(self) -> None:
        """Close the window. Where none is open, nothing happens, and that is said."""
        if not self._started:
            self.notices.once("stop", "Profiler.stop(): it is not started, nothing was recorded")
        self._started = False
        self.close("stop")

    def analyse(self, window: int | None = None) -> Report:
        """Say where the time went; a window that is open is closed.

        Args:
            window: which window of this profiler, counted from 1; by default the last one.

        Returns:
            The report; an empty one where nothing was recorded.

        Raises:
            ValueError: there is no such window.
        """
        from summarykit.profiler import analysis
        from summarykit.profiler.merging import recorded

        if self._started:
            self.stop()
        if window is not None and not 1 <= (whole(window) or 0) <= len(self.windows):
            raise ValueError(f"window: a number from 1 to {len(self.windows)} is needed, got {window!r}")
        if not self.windows:
            return analysis.analyse([])
        chosen = self.windows[-1 if window is None else window - 1]
        chosen.finish()
        return analysis.analyse(recorded(chosen.records))

    @classmethod
    def offline(cls, path: str | os.PathLike[str]) -> Report:
        """Analyse what was recorded earlier, by this or another process, killed or not; or by another profiler.

        Args:
            path: an ``output_path``, one window of it, or a trace of any kind that is known.

        Raises:
            OSError: there is nothing at the path.
        """
        from summarykit.profiler import analysis

        return analysis.analyse(path)

    def forget(self) -> None:
        """In a forked child: what is open is the parent's."""
        self._started = False
        super().forget()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in another process perhaps, is not started and records windows of its own."""
        return _again, (type(self), self._plan)

    def __enter__(self) -> Profiler:
        if not self._started:
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> Any:
        if self._started:
            self.stop()


def _again(kind: type[Profiler], plan: Plan) -> Profiler:
    profiler = kind.__new__(kind)
    Controller.__init__(profiler, plan)
    profiler._started = False
    return profiler
