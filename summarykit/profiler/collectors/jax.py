"""JAX's own profiler: its trace lies beside our records."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from time import monotonic
from typing import Any

from summarykit.profiler.collectors.bounded import BoundedTrace
from summarykit.profiler.collectors.collector import Site

SECONDS = 30.0
"""Seconds that are traced at most: where nobody tells of steps, these are the limit."""


class JaxTrace(BoundedTrace):
    """``jax.profiler.start_trace`` for the window, with each step annotated as ``train`` and its number."""

    key = "jax"
    what = "JAX's profiler"
    period = 1.0

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self.path: Path = site.directory / f"{site.stem}.jax"
        self._annotation: Any = None
        self._began = 0.0
        self._lock = threading.Lock()

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``: it is the program's framework, and not just loaded by another one."""
        return "jax" in sys.modules and "torch" not in sys.modules

    def begin(self) -> None:
        """See ``BoundedTrace``."""
        self._profiler().start_trace(str(self.path))
        self._began = monotonic()

    def end(self) -> None:
        """See ``BoundedTrace``."""
        self._profiler().stop_trace()

    def tick(self) -> None:
        """See ``Collector``: JAX may be traced from any thread."""
        if monotonic() - self._began > SECONDS:
            self.finish_trace(f"{SECONDS:g} seconds are enough")

    def finish_trace(self, why: str) -> None:
        """See ``BoundedTrace``."""
        with self._lock:
            super().finish_trace(why)

    def step_begin(self, step: int) -> None:
        """See ``StepListener``."""
        self._leave_step()
        if self.running:
            self._annotation = self._profiler().StepTraceAnnotation("train", step_num=step)
            self._annotation.__enter__()

    def step_end(self, step: int) -> None:
        """See ``StepListener``."""
        self._leave_step()
        super().step_end(step)

    def stop(self) -> None:
        """See ``Collector``."""
        self._leave_step()
        super().stop()

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"trace": self.path.name if self.path.exists() else None, **super().described()}

    @staticmethod
    def _profiler() -> Any:
        return sys.modules["jax"].profiler

    def _leave_step(self) -> None:
        annotation, self._annotation = self._annotation, None
        if annotation is not None:
            annotation.__exit__(None, None, None)
