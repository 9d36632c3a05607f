"""Warnings that are told once, through the standard library's logging."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from summarykit.registry import imported

if TYPE_CHECKING:
    import logging

    logger: logging.Logger


def __getattr__(name: str) -> Any:
    """``logger``, when it is used: most runs have nothing to tell, and ``logging`` takes 3 ms to import."""
    if name == "logger":
        return imported("logging").getLogger("summarykit")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Notices:
    """Says each thing once: a loop of a million steps must not print a million lines."""

    def __init__(self) -> None:
        self._said: set[Hashable] = set()

    def once(self, key: Hashable, message: str, *args: object) -> bool:
        """Log ``message % args`` as a warning unless ``key`` was told before; True when it was told now."""
        if key in self._said:
            return False
        self._said.add(key)
        imported("logging").getLogger("summarykit").warning(message, *args)
        return True
