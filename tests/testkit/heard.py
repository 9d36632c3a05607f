"""What was told once, and nothing that other threads or libraries log meanwhile."""

from __future__ import annotations

from collections.abc import Hashable

from summarykit.notices import Notices


class Heard(Notices):
    """Keeps the texts that it tells.

    Attributes:
        texts: in the order in which they were told.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def once(self, key: Hashable, message: str, *args: object) -> bool:
        told = super().once(key, message, *args)
        if told:
            self.texts.append(message % args)
        return told
