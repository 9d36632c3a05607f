"""What a window collects, one file each; a registry finds them by name."""

from __future__ import annotations

from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.collectors.known import COLLECTORS

__all__ = ["COLLECTORS", "Collector", "Site"]
