"""Several parts as one: asked in order, and none keeps another from being asked."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from summarykit.collectors.part import Part
from summarykit.notices import Notices


class PartList:
    """The parts of a run. One that fails is told of once, and asked again next time: a full disk, a busy device may work again."""

    def __init__(self, parts: Iterable[Part], notices: Notices, strict: bool) -> None:
        """Take the parts; ``strict`` lets their exceptions through."""
        self._parts, self._notices, self._strict = list(parts), notices, strict

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    def ask(self, method: str, *args: Any, of: Iterable[Part] | None = None) -> None:
        """Call a method of all parts, or ``of`` some."""
        for part in self._parts if of is None else of:
            self._ask(part, method, args)

    def end(self) -> None:
        """Call ``end`` of all and forget them, whatever comes."""
        with ExitStack() as stack:
            for part in reversed(self._parts):
                stack.callback(self._ask, part, "end", ())
            self._parts = []

    def _ask(self, part: Part, method: str, args: tuple[Any, ...]) -> None:
        try:
            getattr(part, method)(*args)
        except Exception:
            if self._strict:
                raise
            name = f"{type(part).__name__}.{method}"
            self._notices.once(name, "%s failed, the training goes on: %s", name, traceback.format_exc())
