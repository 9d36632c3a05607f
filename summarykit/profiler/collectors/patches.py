"""Puts functions in the place of others, and takes them away again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ABSENT = object()


class Patches:
    """Attributes of modules and classes that are replaced for a while.

    What somebody else replaced meanwhile stays as it is: theirs calls ours, which calls the original.
    """

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Any, Any]] = []

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace an attribute by what ``make`` gives for it; one that is not there is left alone."""
        original = getattr(owner, name, None)
        if original is None:
            return
        ours = make(original)
        self._done.append((owner, name, vars(owner).get(name, _ABSENT), ours))
        setattr(owner, name, ours)

    def undo(self) -> None:
        """Put the originals back, the last one first."""
        while self._done:
            owner, name, before, ours = self._done.pop()
            if vars(owner).get(name) is not ours:
                continue
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
