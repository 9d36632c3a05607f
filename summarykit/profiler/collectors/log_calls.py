"""Time in what a training loop logs with: our callbacks and writers, those of others, ``logging`` and ``print``."""

from __future__ import annotations

import builtins
import logging
import sys
from typing import Any

from summarykit.profiler.collectors.instrument import Hooked, Instrument
from summarykit.profiler.phases import LOGGING

_LARGE = ("add_histogram", "add_image", "add_images", "add_figure", "add_text", "add_graph", "flush")
_ALL = ("add_scalar", "add_scalars", *_LARGE)

CALLS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("summarykit.training.callbacks", "CallbackList", ("fire",)),
    ("summarykit.summary.writer", "SummaryWriter", _LARGE),    # our scalars take less than the clock does
    ("summarykit.summary.record", "SummaryRecord", ("record", "flush")),
    ("torch.utils.tensorboard.writer", "SummaryWriter", _ALL),
    ("tensorboardX.writer", "SummaryWriter", _ALL),
    ("mindspore.train.summary.summary_record", "SummaryRecord", ("add_value", "record", "flush")),
    ("wandb.sdk.wandb_run", "Run", ("log",)),
    ("mlflow", "", ("log_metric", "log_metrics", "log_artifact")),
)
"""Module, class in it ("" for the module itself), names: only what the program has loaded is looked at."""


class LogInstrument(Instrument):
    """Wraps what ``CALLS`` names, ``Logger.handle`` and ``print``."""

    def install(self) -> None:
        """See ``Instrument``."""
        for module, within, names in CALLS:
            owner: Any = sys.modules.get(module)
            owner = getattr(owner, within, None) if within else owner
            for name in names if owner is not None else ():
                self.patches.replace(owner, name, self.timed(LOGGING))
        self.patches.replace(logging.Logger, "handle", self.timed(LOGGING))
        self.patches.replace(builtins, "print", self.timed(LOGGING))


class LogCalls(Hooked):
    """Phase ``logging``."""

    key = "logging"
    instrument = LogInstrument()
