"""A session of TensorBoard's HPARAMS page in two halves: its settings when it starts, its status when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.formats.tensorboard import hparams
from summarykit.kinds.arrays import described
from summarykit.kinds.flatten import flatten, members_of
from summarykit.kinds.hparams import plain
from summarykit.kinds.kind import no_options
from summarykit.shapes import Group, Plugin

RUNNING = "running"


@dataclass(frozen=True)
class Half:
    """One of the two messages."""

    ending: str
    content: bytes

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return len(self.content)


class HParamsSessionKind:
    """Half a session: where its ``status`` is ``"running"`` its settings, else how it ended.

    TensorBoard keeps the first of each half that it sees. Since nothing here names the experiment, its page has the settings of all runs
    below its directory as columns, and all their scalars as metrics. Settings become what `HParamsKind` makes of them.
    """

    name = "hparams_session"
    light = True

    def snapshot(self, value: Any, *, status: str = RUNNING, **options: Any) -> Half:
        """Take the settings, or the status.

        Args:
            value: a mapping, dataclass or namespace.
            status: ``"running"``, ``"success"``, ``"failure"`` or ``"unknown"``.
            **options: none other.

        Raises:
            RefusedValueError: not settings or a status.
        """
        no_options(self.name, options)
        if members_of(value) is None:
            raise RefusedValueError(f"{self.name} takes a dict, dataclass or namespace of settings; got {described(value)}")
        if status not in hparams.STATUSES:
            raise RefusedValueError(f"{self.name}: status={status!r} must be one of {', '.join(hparams.STATUSES)}")
        if status != RUNNING:
            return Half("/session_end_info", hparams.session_end(status))
        settings = {name: plain(setting) for name, setting in flatten(value).items() if name}
        return Half("/session_start_info", hparams.session_start(settings, ""))

    def reduce(self, snapshot: Half) -> Group:
        """Lay it out as TensorBoard's message."""
        return Group(((snapshot.ending, Plugin("hparams", np.empty(0, np.float32), snapshot.content)),), tag=hparams.TAG)


HPARAMS_SESSION = HParamsSessionKind()
