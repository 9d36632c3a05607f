"""Memory of PyTorch's CUDA allocator, ten times a second: what tensors need, what is held for them, how often there was no room."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import perf_counter_ns
from typing import Any

from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.names import NAMES

MEMORY = {"time": "int", "device": "int", "bytes": "int", "allocated": "int", "reserved": "int"}
_COUNTERS = {
    "allocated_peak": "allocated_bytes.all.peak",
    "reserved": "reserved_bytes.all.current",
    "retries": "num_alloc_retries",
}


class CudaMemory(Collector):
    """Rows of ``memory`` by ``torch.cuda.memory_stats``, and counters of each device that is used.

    ``memory`` has what is allocated and reserved at the moment, and ``bytes``: what was allocated since the last look. The counters are
    ``cuda_<k>/allocated_peak``, the highest since the program began or reset it, ``/reserved`` (bytes) and ``/retries``: how often the
    allocator found no room and had to give back what it held. CUDA is never initialized by it.
    """

    key = "cuda_memory"
    period = 0.1

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self._add = site.tape.table("memory", MEMORY).add
        self._before: dict[int, int] = {}

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return _cuda() is not None

    def start(self) -> None:
        """See ``Collector``: later looks tell what came since."""
        self.tick()

    def tick(self) -> None:
        """See ``Collector``."""
        for device, stats in _stats():
            now, total = perf_counter_ns(), stats["allocated_bytes.all.allocated"]
            before = self._before.get(device, total)
            new = total - before if total >= before else total    # the program may reset what is added up
            self._before[device] = total
            self._add((now, device, new, stats["allocated_bytes.all.current"], stats["reserved_bytes.all.current"]))
            for name, key in _COUNTERS.items():
                self.site.tape.counters.add((now, NAMES.number(f"cuda_{device}/{name}"), float(stats[key])))

    def stop(self) -> None:
        """See ``Collector``: a window that was too short for a look gets one."""
        self.tick()

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        cuda = _cuda()
        sizes = {device: cuda.get_device_properties(device).total_memory for device, _ in _stats()} if cuda else {}
        return {"devices": [{"id": device, "totalGlobalMem": size} for device, size in sizes.items()]}


def _cuda() -> Any:
    """``torch.cuda`` where the program uses it already."""
    cuda: Any = sys.modules.get("torch.cuda")
    return cuda if cuda is not None and cuda.is_initialized() else None


def _stats() -> Iterator[tuple[int, dict[str, int]]]:
    """Statistics of each device that holds something, or did."""
    cuda = _cuda()
    for device in range(cuda.device_count() if cuda else 0):
        stats = cuda.memory_stats(device)
        if stats.get("reserved_bytes.all.peak"):
            yield device, stats
