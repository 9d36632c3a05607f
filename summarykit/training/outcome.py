"""How a run ended, as text: what remains of an exception when its objects are let go of."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from summarykit.training.context import Status


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        status: FINISHED, FAILED or INTERRUPTED.
        error: the exception's type (``"ValueError"``), empty where there was none.
        message: what it says.
        traceback: as Python prints it, the causes among it.
    """

    status: Status
    error: str = ""
    message: str = ""
    traceback: str = ""

    @classmethod
    def of(cls, params: Mapping[str, Any], error: BaseException | None = None, *, ended: bool = True) -> Outcome:
        """Tell from what is known when the callbacks are left.

        Args:
            params: of the run. A ``Loop`` says in ``status`` and ``exception`` how it ended; other frameworks say nothing.
            error: what ended the block that the callbacks were entered for.
            ended: whether ``on_train_end`` came.
        """
        error = error or params.get("exception")
        status = params.get("status", Status.RUNNING)
        if error is not None and not isinstance(error, GeneratorExit):    # that says no more than that a loop was left
            return cls(Status.after(error), type(error).__name__, _text(error), _trace(error))
        if status is not Status.RUNNING:
            return cls(Status(status))
        return cls(Status.FINISHED if ended else Status.INTERRUPTED)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as wrong:  # noqa: BLE001 - a user's __str__
        return f"(str() of it fails: {type(wrong).__name__})"


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
