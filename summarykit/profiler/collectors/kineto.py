"""Operators and kernels of PyTorch: Kineto's own trace, written beside our records."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from summarykit.profiler.collectors.bounded import BoundedTrace
from summarykit.profiler.collectors.collector import Site

GROWTH = 48 << 20
"""Bytes that the process may grow by between ends of steps while it is traced: Kineto keeps all in memory, and needs five times that to
write it."""


class Kineto(BoundedTrace):
    """``torch.profiler`` without its Python part: begun at the first step of the window, ended after ``STEPS`` of them.

    A window in which nobody tells of steps has no such trace, and neither has one that a kill ends before it was written. It is begun
    and ended in the thread that trains, since it follows that thread.
    """

    key = "kineto"
    what = "PyTorch's profiler"
    anywhere = False

    def __init__(self, site: Site) -> None:
        """See ``Collector``.

        Raises:
            RuntimeError: PyTorch is not loaded, or has no Kineto.
        """
        super().__init__(site)
        if not self.useful():
            raise RuntimeError("PyTorch is not loaded yet, or has no Kineto")
        self.path: Path = site.directory / f"{site.stem}.kineto.json"
        self._profile: Any = None
        self._annotation: Any = None
        self._memory = 0
        self._why = "nobody told of steps"

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return "torch.autograd.profiler" in sys.modules and bool(sys.modules["torch"].profiler.kineto_available())

    def start(self) -> None:
        """See ``Collector``: where it is not sure that there will be steps it waits for the first of them."""
        if self.site.told:
            super().start()
        else:
            self.site.listeners.append(self)

    def begin(self) -> None:
        """See ``BoundedTrace``."""
        torch = sys.modules["torch"]
        if torch.autograd._profiler_enabled():
            raise RuntimeError("the program uses torch.profiler itself")
        self._profile = _profile(torch)
        self._profile.__enter__()

    def end(self) -> None:
        """See ``BoundedTrace``."""
        profile, self._profile = self._profile, None
        self._leave_step()
        profile.__exit__(None, None, None)
        profile.export_chrome_trace(str(self.path))
        if self.path.stat().st_size > self.site.max_bytes:
            size = self.path.stat().st_size
            self.path.unlink()
            raise OSError(f"a trace of {size} bytes is more than max_bytes allows")

    def step_begin(self, step: int) -> None:
        """See ``StepListener``."""
        if not self.tried:
            self.begin_trace()
        self._leave_step()
        if self.running:
            self._annotation = sys.modules["torch"].profiler.record_function(f"ProfilerStep#{step}")
            self._annotation.__enter__()

    def step_end(self, step: int) -> None:
        """See ``StepListener``."""
        self._leave_step()
        super().step_end(step)
        if self.running:
            self._memory = self._memory or _resident()    # after one whole step memory of the model is steady
            if _resident() - self._memory > GROWTH:
                self.finish_trace(f"the process grew by more than {GROWTH >> 20} MiB")

    def forget(self) -> None:
        """See ``Collector``: the child's trace is nobody's."""
        self._profile = self._annotation = None
        super().forget()

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"trace": self.path.name if self.path.exists() else None, **super().described()}

    def _leave_step(self) -> None:
        annotation, self._annotation = self._annotation, None
        if annotation is not None:
            annotation.__exit__(None, None, None)


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
