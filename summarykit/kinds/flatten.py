"""Nested settings and metrics as one level: ``{"optimizer": {"lr": 0.1}}`` becomes ``{"optimizer/lr": 0.1}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

_DEEPEST = 32    # levels; what is deeper, or holds itself, is taken as it is


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Give the leaves of mappings, dataclasses, named tuples and namespaces, by their path; an empty one is a leaf itself."""
    return dict(_leaves(value, prefix, ()))


def _leaves(value: Any, path: str, above: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    whole = len(above) == _DEEPEST or any(value is each for each in above)
    members = None if whole else members_of(value)
    if not members:
        yield path, value
        return
    for name, member in members.items():
        yield from _leaves(member, f"{path}/{name}" if path else str(name), (*above, value))


def members_of(value: Any) -> dict[Any, Any] | None:
    """What a structured value consists of; None where it is none."""
    if isinstance(value, Mapping):
        return {key: value[key] for key in value}
    if hasattr(type(value), "__dataclass_fields__"):
        from dataclasses import fields  # who has a dataclass has it imported

        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if isinstance(value, SimpleNamespace) or type(value).__name__ == "Namespace":
        return dict(vars(value))
    return None
