"""The step that is being collected: what operators gave in it."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from summarykit.notices import Notices
from summarykit.ops import torch_batched

NOTICES = Notices()
_FIXED = (bool, int, float, str)


class Given(NamedTuple):
    """A value that an operator was called with, frozen."""

    kind: str
    tag: str
    value: Any
    options: dict[str, str]


class Gathering:
    """What operators give between ``open()`` and ``close()``, from whatever thread; of one kind and tag the last value counts."""

    def __init__(self) -> None:
        """Nothing is gathered before it is opened."""
        self._given: dict[tuple[str, str], Given] = {}

    def open(self) -> None:
        """From now on."""
        settle()
        self._given = {}
        _change(self, present=True)

    def close(self) -> list[Given]:
        """No longer; gives what there is, and forgets it."""
        settle()
        _change(self, present=False)
        given, self._given = self._given, {}
        return list(given.values())

    def add(self, given: Given) -> None:
        """Take a value."""
        self._given[given.kind, given.tag] = given


_gatherings: tuple[Gathering, ...] = ()
_changing = threading.Lock()
_settlers: list[Callable[[], None]] = []


def gather(kind: str, tag: str, value: Any, dataformat: str) -> None:
    """Give a value to everyone who is collecting this step; where nobody is, nothing happens. Never raises."""
    if _gatherings:
        try:
            given = Given(kind, tag, frozen(value), {"dataformat": dataformat} if dataformat else {})
        except Exception as error:  # noqa: BLE001 - a copy may fail for reasons of any framework's; the model goes on
            NOTICES.once((kind, tag), "%s %r is not recorded: %s: %s", kind, tag, type(error).__name__, error)
            return
        for gathering in _gatherings:
            gathering.add(given)


def collecting() -> bool:
    """Whether the current step is being collected."""
    return bool(_gatherings)


def frozen(value: Any) -> Any:
    """A copy that later changes of the model's own do not reach."""
    if isinstance(value, _FIXED):
        return value
    if hasattr(value, "detach"):
        return torch_batched.last(value).detach().clone()
    return value.copy() if hasattr(value, "dtype") and hasattr(value, "copy") else copy.deepcopy(value)


def on_settling(settle_one: Callable[[], None]) -> None:
    """Have this called before a step begins or ends to be collected: it waits for values that are under way."""
    if settle_one not in _settlers:
        _settlers.append(settle_one)


def settle() -> None:
    """Wait for values that are under way."""
    for settle_one in _settlers:
        settle_one()


def _change(gathering: Gathering, *, present: bool) -> None:
    global _gatherings
    with _changing:
        others = tuple(each for each in _gatherings if each is not gathering)
        _gatherings = (*others, gathering) if present else others
