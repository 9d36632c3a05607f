"""When something is recorded: callbacks, the run context, triggers and the loop."""

from summarykit.training.callback import Callback
from summarykit.training.callbacks import CallbackList
from summarykit.training.context import CallbackParams, RunContext, Status
from summarykit.training.loop import Loop

__all__ = ["Callback", "CallbackList", "CallbackParams", "Loop", "RunContext", "Status"]
