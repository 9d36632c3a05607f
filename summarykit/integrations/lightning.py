"""Lightning, the package ``lightning``: our callbacks, and a logger.

::

    from summarykit.integrations.lightning import SummaryCollector, SummaryLogger

    Trainer(callbacks=[SummaryCollector("./summary")], logger=SummaryLogger("./runs")).fit(model, batches)
"""

from __future__ import annotations

from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers import Logger
from lightning.pytorch.utilities import rank_zero_only

from summarykit import collectors
from summarykit.integrations.adapted import adapted
from summarykit.integrations.lightning_hooks import Hooks
from summarykit.integrations.lightning_logging import Logging

__all__ = ["Callbacks", "SummaryCollector", "SummaryLogger"]


class Callbacks(Hooks, Callback):
    """Any of our callbacks as one of Lightning's; see `Hooks`."""


class SummaryLogger(Logging, Logger):
    """A logger that writes our files; see `Logging`."""

    rank_zero_only = staticmethod(rank_zero_only)


SummaryCollector = adapted(collectors.SummaryCollector, Callbacks)
