"""What users tell of a run, as MindSpore's ``UserDefinedInfo``, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from summarykit.formats import wire

_USER_INFO, _MAP_INT32, _MAP_STR, _MAP_DOUBLE = 1, 3, 4, 5


def encode(values: Mapping[str, Any]) -> bytes:
    """One ``user_info`` for each name: of several in one MindInsight sees the first. Nested names are joined by ``/``."""
    return b"".join(wire.data(_USER_INFO, _entry(name, value)) for name, value in leaves(values))


def leaves(values: Mapping[str, Any], path: str = "") -> Iterable[tuple[str, Any]]:
    """What is no mapping, or an empty one, with the path to it."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{path}{name}/")
        else:
            yield f"{path}{name}", value


def _entry(name: str, value: Any) -> bytes:
    key = wire.any_text(1, name)
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return wire.data(_MAP_INT32, key + wire.integer(2, value))
    if isinstance(value, float):
        return wire.data(_MAP_DOUBLE, key + wire.double(2, value))
    return wire.data(_MAP_STR, key + wire.any_text(2, value if isinstance(value, str) else str(value)))


def decode(found: Any) -> dict[str, Any]:
    """The values in such a message."""
    values: dict[str, Any] = {**found.map_int32, **found.map_str, **found.map_double}
    values |= {name: decode(inner) for name, inner in found.map_dict.items()}
    for info in found.user_info:
        values |= decode(info)
    return values
