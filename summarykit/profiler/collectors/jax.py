"""JAX's own profiler: its trace lies beside our records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.exclusive import claim, release

_JAX = "JAX's profiler"


class JaxTrace(Collector):
    """``jax.profiler.start_trace`` for the window, with each step annotated as ``train`` and its number."""

    key = "jax"
    anywhere = False

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self.path: Path = site.directory / f"{site.stem}.jax"
        self._jax: Any = None
        self._annotation: Any = None
        self._why = ""

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``: it is the program's framework, and not just loaded by another one."""
        return "jax" in sys.modules and "torch" not in sys.modules

    def start(self) -> None:
        """See ``Collector``."""
        if not claim(_JAX, self):
            self._why = "another window traces"
            return
        jax: Any = sys.modules["jax"]
        try:
            with self.cost.starting(self.site.tape):
                jax.profiler.start_trace(str(self.path))
        except RuntimeError as error:    # the program traces itself
            self._why = str(error)
            release(_JAX, self)
            return
        self._jax = jax
        self.site.listeners.append(self)

    def stop(self) -> None:
        """See ``Collector``."""
        if self._jax is None:
            return
        self.site.listeners.remove(self)
        self.step_end(0)
        try:
            with self.cost.stopping(self.site.tape):
                self._jax.profiler.stop_trace()
        except RuntimeError as error:    # the program has ended it
            self._why = str(error)
        finally:
            self._jax = None
            release(_JAX, self)

    def forget(self) -> None:
        """See ``Collector``."""
        self._jax = None
        release(_JAX, self)

    def step_begin(self, step: int) -> None:
        """See ``StepListener``."""
        self._annotation = self._jax.profiler.StepTraceAnnotation("train", step_num=step)
        self._annotation.__enter__()

    def step_end(self, step: int) -> None:
        """See ``StepListener``."""
        if self._annotation is not None:
            self._annotation.__exit__(None, None, None)
            self._annotation = None

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"trace": self.path.name if self.path.exists() else None, "ended": self._why or "the window ended"}
