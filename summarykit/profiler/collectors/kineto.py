"""Operators and kernels of PyTorch: Kineto's own trace, written beside our records."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from summarykit.notices import logger
from summarykit.profiler.collectors.bounded import STEPS
from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.exclusive import claim, release

GROWTH = 48 << 20
"""Bytes that the process may grow by between ends of steps while it is traced: Kineto keeps all in memory, and needs five times that to
write it."""

_KINETO = "PyTorch's profiler"


class Kineto(Collector):
    """``torch.profiler`` without its Python part: started at the first step of the window, ended after ``STEPS`` of them.

    A window in which nobody tells of steps has no such trace. It is started and ended in the thread that trains, since it follows that
    thread.
    """

    key = "kineto"
    anywhere = False

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self.path: Path = site.directory / f"{site.stem}.kineto.json"
        self._profile: Any = None
        self._annotation: Any = None
        self._steps = self._memory = 0
        self._why = "nobody told of steps"

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return "torch.autograd.profiler" in sys.modules and bool(sys.modules["torch"].profiler.kineto_available())

    def start(self) -> None:
        """See ``Collector``: where it is not sure that there will be steps it waits for the first of them."""
        self.site.listeners.append(self)
        if self.site.told:
            self._begin()

    def stop(self) -> None:
        """See ``Collector``."""
        if self in self.site.listeners:
            self.site.listeners.remove(self)
        if self._profile is not None:
            self._why = "the window ended"
            self._end()

    def forget(self) -> None:
        """See ``Collector``: the child's trace is nobody's."""
        self._profile = None
        release(_KINETO, self)

    def step_begin(self, step: int) -> None:
        """See ``StepListener``."""
        if self._profile is None and not self._steps:
            self._begin()
        if self._profile is not None:
            self._annotation = sys.modules["torch"].profiler.record_function(f"ProfilerStep#{step}")
            self._annotation.__enter__()

    def step_end(self, step: int) -> None:
        """See ``StepListener``."""
        if self._profile is None:
            return
        self._leave_step()
        self._steps += 1
        self._memory = self._memory or _resident()    # after one whole step memory of the model is steady
        if self._steps >= STEPS:
            self._why = f"{STEPS} steps are enough"
        elif _resident() - self._memory > GROWTH:
            self._why = f"the process grew by more than {GROWTH >> 20} MiB"
        else:
            return
        self._end()

    def _begin(self) -> None:
        torch = sys.modules["torch"]
        self._steps = 0
        if torch.autograd._profiler_enabled():
            self._steps, self._why = -1, "the program traces itself"
            logger.warning("profiler: the program uses torch.profiler itself: no operators of PyTorch are recorded")
        elif not claim(_KINETO, self):
            self._steps, self._why = -1, "another window traces"
        else:
            with self.cost.starting(self.site.tape):
                self._profile = _profile(torch)
                self._profile.__enter__()

    def _leave_step(self) -> None:
        if self._annotation is not None:
            self._annotation.__exit__(None, None, None)
            self._annotation = None

    def _end(self) -> None:
        profile, self._profile = self._profile, None
        with self.cost.stopping(self.site.tape):
            self._leave_step()
            try:
                profile.__exit__(None, None, None)
                profile.export_chrome_trace(str(self.path))
            except (RuntimeError, OSError) as error:
                self._why = f"it failed: {error}"
            finally:
                release(_KINETO, self)
        self._within_limits()

    def _within_limits(self) -> None:
        with suppress(OSError):
            if self.path.stat().st_size > self.site.max_bytes:
                self._why = f"a trace of {self.path.stat().st_size} bytes is more than max_bytes allows"
                self.path.unlink()

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"trace": self.path.name if self.path.exists() else None, "steps": max(0, self._steps), "ended": self._why}


def _profile(torch: Any) -> Any:
    """A profiler that gives a trace and no Python objects of its events, where this PyTorch can do that."""
    device = "cuda" if torch.cuda.is_available() else None
    make = torch.autograd.profiler.profile
    try:
        lean = torch._C._profiler._ExperimentalConfig(trace_only=True)
        return make(use_cpu=True, use_device=device, use_kineto=True, experimental_config=lean)
    except TypeError:
        return make(use_cuda=device is not None, use_kineto=True)


def _resident() -> int:
    """Resident bytes of this process; 0 where that cannot be told cheaply."""
    with suppress(OSError), open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read(128).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
