"""MindSpore's own profiler: its output lies beside our records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from summarykit.profiler.collectors.bounded import BoundedTrace
from summarykit.profiler.collectors.collector import Site


class MindSporeProfiler(BoundedTrace):
    """``mindspore.Profiler`` for the window; its own analysis, which takes a second and more, runs before ours."""

    key = "mindspore"
    what = "MindSpore's profiler"
    anywhere = False

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self.path: Path = site.directory / f"{site.stem}.mindspore"
        self._profiler: Any = None

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return "mindspore" in sys.modules

    def begin(self) -> None:
        """See ``BoundedTrace``."""
        mindspore: Any = sys.modules["mindspore"]
        self._profiler = mindspore.Profiler(output_path=str(self.path), start_profile=False)
        self._profiler.start()

    def end(self) -> None:
        """See ``BoundedTrace``."""
        self._profiler.stop()

    def forget(self) -> None:
        """See ``Collector``."""
        self._profiler = None
        super().forget()

    def finish(self) -> None:
        """See ``Collector``."""
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            profiler.analyse()

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"output": self.path.name if self.path.exists() else None, **super().described()}
