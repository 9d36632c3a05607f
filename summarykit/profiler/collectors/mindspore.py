"""MindSpore's own profiler: its output lies beside our records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.exclusive import claim, release

_MINDSPORE = "MindSpore's profiler"


class MindSporeProfiler(Collector):
    """``mindspore.Profiler`` for the window; its own analysis, which takes a second and more, runs before ours."""

    key = "mindspore"
    anywhere = False

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self.path: Path = site.directory / f"{site.stem}.mindspore"
        self._profiler: Any = None
        self._stopped: Any = None

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return "mindspore" in sys.modules

    def start(self) -> None:
        """See ``Collector``."""
        if claim(_MINDSPORE, self):
            with self.cost.starting(self.site.tape):
                mindspore: Any = sys.modules["mindspore"]
                self._profiler = mindspore.Profiler(output_path=str(self.path), start_profile=False)
                self._profiler.start()

    def stop(self) -> None:
        """See ``Collector``."""
        if self._profiler is not None:
            with self.cost.stopping(self.site.tape):
                self._profiler.stop()
            self._stopped, self._profiler = self._profiler, None
            release(_MINDSPORE, self)

    def forget(self) -> None:
        """See ``Collector``."""
        self._profiler = self._stopped = None
        release(_MINDSPORE, self)

    def finish(self) -> None:
        """See ``Collector``."""
        if self._stopped is not None:
            self._stopped.analyse()
            self._stopped = None

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"output": self.path.name if self.path.exists() else None}
