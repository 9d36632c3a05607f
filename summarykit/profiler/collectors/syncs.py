"""Calls that wait for a device, such as ``Tensor.item``: each is a span; a loop that waits in every step is seen without a trace."""

from __future__ import annotations

import sys
from typing import Any

from summarykit.profiler.collectors.instrument import Hooked, Instrument
from summarykit.profiler.names import NAMES
from summarykit.profiler.recording import Category

CALLS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("torch", "Tensor", ("item", "tolist", "cpu", "numpy")),
    ("torch.cuda", "", ("synchronize",)),
    ("torch.cuda.streams", "Stream", ("synchronize",)),
    ("torch.cuda.streams", "Event", ("synchronize",)),
    ("torch.mps", "", ("synchronize",)),
    ("torch.xpu", "", ("synchronize",)),
    ("jax", "", ("block_until_ready", "device_get")),
    ("mindspore", "Tensor", ("asnumpy",)),
)
"""Module, class in it ("" for the module itself), names: only what the program has loaded is looked at."""


class SyncInstrument(Instrument):
    """Wraps what ``CALLS`` names."""

    def install(self) -> None:
        """See ``Instrument``."""
        for module, within, names in CALLS:
            owner: Any = sys.modules.get(module)
            owner = getattr(owner, within, None) if within else owner
            for name in names if owner is not None else ():
                title = f"{within or module.rpartition('.')[2]}.{name}"
                self.patches.replace(owner, name, self.timed(NAMES.number(title, Category.RUNTIME)))


class Syncs(Hooked):
    """Spans of calls that wait for a device."""

    key = "sync"
    instrument = SyncInstrument()

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        return any(module in sys.modules for module, _, _ in CALLS)
