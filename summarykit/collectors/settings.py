"""The collector's arguments, checked once: each message names the argument, what came and what is allowed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from summarykit.kinds.flatten import members_of
from summarykit.whole import whole


class Keyed(Protocol):
    """What the settings need to know of a part."""

    key: str
    """Empty where no key chooses it."""
    default: Any

    def check(self, value: Any) -> None:
        """Refuse a wrong value of the key."""


@dataclass(frozen=True)
class Settings:
    """Checked arguments of a collector.

    Attributes:
        collect_freq: a step is collected where its number is a multiple of this.
        collect_tensor_freq: the same for tensors; None for the automatic rule.
        specified: key of ``collect_specified_data`` -> value, the defaults among them unless they are off.
        custom_lineage_data: the user's own description of the run.
        summary_dir: the run's directory.
        fence: whether copies of parameters may wait for the next optimizer step.
        asked: keys of ``specified`` that the user gave.
    """

    collect_freq: int
    collect_tensor_freq: int | None
    specified: Mapping[str, Any]
    custom_lineage_data: Mapping[str, Any]
    summary_dir: Path = Path()
    fence: bool = True
    asked: Collection[str] = ()


def boolean(name: str, value: Any) -> None:
    """Refuse what is no bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{name}: True or False is needed, got {value!r}")


def positive(name: str, value: Any) -> int:
    """Refuse what is no integer above 0; a bool is none.

    Returns:
        The value.
    """
    number = whole(value)
    if number is None:
        raise TypeError(f"{name}: an integer above 0 is needed, got {value!r}")
    if number <= 0:
        raise ValueError(f"{name}: an integer above 0 is needed, got {value!r}")
    return number


def specified_data(given: Any, keep_default_action: Any, parts: Iterable[Keyed]) -> dict[str, Any]:
    """Check ``collect_specified_data`` and complete it by the defaults where they are kept.

    Raises:
        TypeError: it is no dict, a value is of a wrong type, ``keep_default_action`` is no bool.
        ValueError: a key is unknown or a value is not allowed.
    """
    boolean("keep_default_action", keep_default_action)
    if not (given is None or isinstance(given, dict)):
        raise TypeError(f"collect_specified_data: a dict or None is needed, got {given!r}")
    parts = [part for part in parts if part.key]
    checks = {part.key: part.check for part in parts}
    for key, value in (given or {}).items():
        if key not in checks:
            raise ValueError(f"collect_specified_data: unknown key {key!r}; allowed: {', '.join(sorted(checks))}")
        checks[key](value)
    defaults = {part.key: part.default for part in parts} if keep_default_action else {}
    return {**defaults, **(given or {})}


def custom_lineage(given: Any) -> dict[str, Any]:
    """Check ``custom_lineage_data``: names with values of any type, as a dict, dataclass or namespace.

    Raises:
        TypeError: it is none of these, or a name is no text.
    """
    members = {} if given is None else members_of(given)
    if members is None:
        raise TypeError(f"custom_lineage_data: a dict or None is needed, or a dataclass or namespace; got {given!r}")
    for name in members:
        if not isinstance(name, str):
            raise TypeError(f"custom_lineage_data: the names must be texts, got {name!r}")
    return members
