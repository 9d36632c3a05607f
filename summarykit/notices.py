"""Warnings that are told once, through the standard library's logging."""

from __future__ import annotations

import logging
from collections.abc import Hashable

logger = logging.getLogger("summarykit")


class Notices:
    """Says each thing once: a loop of a million steps must not print a million lines."""

    def __init__(self) -> None:
        self._said: set[Hashable] = set()

    def once(self, key: Hashable, message: str, *args: object) -> bool:
        """Log ``message % args`` as a warning unless ``key`` was told before; True when it was told now."""
        if key in self._said:
            return False
        self._said.add(key)
        logger.warning(message, *args)
        return True
