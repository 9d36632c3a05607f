"""What every part of the collector offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from summarykit.collectors.settings import Settings, boolean
from summarykit.notices import Notices
from summarykit.training.context import CallbackParams
from summarykit.training.outcome import Outcome
from summarykit.training.triggers import Trigger, every, first, last


class Sink(Protocol):
    """Where a part puts what it collects."""

    def add(self, kind: str, tag: str, value: Any, **options: Any) -> None:
        """Add a value of the current step; one that cannot be recorded is refused alone and never raises."""


class Part:
    """One thing that SummaryCollector collects; made anew for every run.

    A part of your own overrides ``key`` and ``collect`` and is registered by an entry point in the group
    ``summarykit.collectors``; ``collect_specified_data`` then knows its key.
    """

    key: ClassVar[str]
    """Its key in ``collect_specified_data``."""
    default: ClassVar[Any] = True
    """What that key holds where the user says nothing."""
    whole_step: ClassVar[bool] = True
    """False: what is there of a step that an exception ended is collected too."""

    of_machine: ClassVar[bool] = False
    """True: it tells of this process and its machine, so ``ranks="machine"`` asks every rank for it."""

    def __init__(self, settings: Settings, notices: Notices) -> None:
        """Make a part.

        Args:
            settings: the collector's arguments, checked.
            notices: for what is told once.
        """
        self.settings = settings
        self.notices = notices
        self.trigger: Trigger = first() | every(steps=settings.collect_freq) | last()

    @classmethod
    def check(cls, value: Any) -> None:
        """Refuse a wrong value of its key; by default whatever is no bool.

        Raises:
            TypeError, ValueError: the message names the key, what came and what is allowed.
        """
        boolean(cls.key, value)

    @classmethod
    def wanted(cls, settings: Settings) -> bool:
        """True where the settings ask for it; by default where its key is true."""
        return bool(settings.specified.get(cls.key))

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Before training. What is put into the sink is recorded at the step training starts from."""

    def epoch_end(self, params: CallbackParams) -> None:
        """After an epoch, for what is counted in epochs; values for the record are collected with the steps."""

    def evaluation_begin(self, params: CallbackParams) -> None:
        """Before an evaluation, within a training or on its own (then there is no ``begin``)."""

    def evaluation_end(self, params: CallbackParams, sink: Sink) -> None:
        """After an evaluation: ``params.metrics`` is what it reported."""

    def ended(self, params: CallbackParams, outcome: Outcome, sink: Sink) -> None:
        """Training is over, however it ended. Called once for every ``begin``; what is put into the sink is still recorded."""

    def end(self) -> None:
        """All is over: let go of what was acquired. The last call, also where only an evaluation took place."""

    def prepare(self, params: CallbackParams) -> None:
        """Before a step that will be collected."""

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect the current step."""

    def takes(self, value: Any) -> bool:
        """Whether this collects such a reported value: what no part takes is not kept for the case that its step is the last whole one."""
        return True

    def collect_report(self, values: Mapping[str, Any], prefix: str, sink: Sink) -> None:
        """Collect what was reported outside the steps: by an epoch (``prefix`` "") or by an evaluation ("eval/")."""
