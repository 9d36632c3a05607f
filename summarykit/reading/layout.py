"""Where, in an event that holds scalars only, the numbers are: learned from one record, used for all that look like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from summarykit.formats.dialect import Dialect
from summarykit.reading import wire
from summarykit.reading.wire import BYTES, FIXED32, FIXED64, VARINT, Field
from summarykit.shapes import Array

WALL_TIME, STEP, SUMMARY = 1, 2, 5
VALUE, TAG, EXACT_VALUE = 1, 1, 1000
_FLOAT, _DOUBLE = 1, 2    # TensorFlow's data types
_NUMBERS = {(4, BYTES): 0, (5, BYTES): 4, (5, FIXED32): 4, (6, BYTES): 8, (6, FIXED64): 8}
"""Field and wire type of ``TensorProto`` that may hold a single number -> its width (0: by data type)."""


class Slot(NamedTuple):
    """One scalar: where its tag is, where its number, the number's dtype, and where the same number stands rounded."""

    tag: slice
    number: int
    dtype: str
    rounded: slice = slice(0, 0)


@dataclass(frozen=True)
class Layout:
    """Positions in the payload; where a message lacks the field, wall time and step are empty slices."""

    wall_time: slice
    step: slice
    slots: tuple[Slot, ...]

    def varying(self, length: int, *, tags: bool) -> Array:
        """True where bytes may differ between records of this layout; tags count where ``tags``."""
        free = np.zeros(length, np.bool_)
        free[self.wall_time] = free[self.step] = True
        for slot in self.slots:
            free[slot.number : slot.number + int(slot.dtype[-1])] = free[slot.rounded] = True
            if tags:
                free[slot.tag] = True
        return free


def layout(row: Any, dialect: Dialect) -> Layout | None:
    """The layout of an event; None where it holds anything but scalars, or is not as usual.

    Args:
        row: the payload, bytes-like.
        dialect: its format's field numbers.
    """
    try:
        found = _once(wire.fields(row, 0, len(row)), {WALL_TIME: FIXED64, STEP: VARINT, SUMMARY: BYTES})
        if found is None or SUMMARY not in found:
            return None
        slots = [_slot(row, value, dialect) for value in _values(row, found[SUMMARY])]
    except wire.MalformedError:
        return None
    if not slots or None in slots:
        return None
    return Layout(_place(found.get(WALL_TIME)), _place(found.get(STEP)), tuple(slot for slot in slots if slot))


def _values(row: Any, summary: Field) -> list[Field]:
    found = list(wire.fields(row, summary.start, summary.stop))
    return found if all((each.number, each.wire) == (VALUE, BYTES) for each in found) else []


def _slot(row: Any, value: Field, dialect: Dialect) -> Slot | None:
    allowed = {TAG: BYTES, dialect.scalar: FIXED32, EXACT_VALUE: FIXED64}
    if dialect.tensor:
        allowed |= {dialect.tensor: BYTES, dialect.metadata: BYTES}
    found = _once(wire.fields(row, value.start, value.stop), allowed)
    if found is None or (dialect.scalar in found) == (bool(dialect.tensor) and dialect.tensor in found):
        return None
    tag = _place(found.get(TAG))
    if dialect.scalar not in found:
        return _tensor_slot(row, tag, found, dialect)
    if EXACT_VALUE in found:
        return Slot(tag, found[EXACT_VALUE].start, "<f8", _place(found[dialect.scalar]))
    return Slot(tag, found[dialect.scalar].start, "<f4")


def _tensor_slot(row: Any, tag: slice, found: dict[int, Field], dialect: Dialect) -> Slot | None:
    """A scalar as TensorFlow 2 writes it: a tensor of one float32 or float64 whose plugin is named beside it."""
    metadata, tensor = found.get(dialect.metadata), found[dialect.tensor]
    if metadata is None or plugin_of(row, metadata)[0] != "scalars":
        return None
    inner = list(wire.fields(row, tensor.start, tensor.stop))
    kinds = [each.value for each in inner if each.number == 1]
    width = {_FLOAT: 4, _DOUBLE: 8}.get(kinds[0]) if len(kinds) == 1 else None
    numbers = [each for each in inner if (each.number, each.wire) in _NUMBERS]
    if len(numbers) != 1 or width not in (numbers[0].stop - numbers[0].start, 0):
        return None
    if _NUMBERS[numbers[0].number, numbers[0].wire] not in (0, width) or any(each.number not in (1, 2, 3, 4, 5, 6) for each in inner):
        return None
    return Slot(tag, numbers[0].start, f"<f{width}")


def plugin_of(data: Any, metadata: Field) -> tuple[str, bytes]:
    """Name and content of the plugin in a ``SummaryMetadata``; empty where it names none."""
    name, content = "", b""
    for each in wire.fields(data, metadata.start, metadata.stop):
        if (each.number, each.wire) == (1, BYTES):
            for inner in wire.fields(data, each.start, each.stop):
                if (inner.number, inner.wire) == (1, BYTES):
                    name = wire.text(data[inner.start : inner.stop])
                elif (inner.number, inner.wire) == (2, BYTES):
                    content = bytes(data[inner.start : inner.stop])
    return name, content


def _once(found: Any, allowed: dict[int, int]) -> dict[int, Field] | None:
    """Fields by number; None where one repeats or is not among the allowed (number -> wire type)."""
    by_number: dict[int, Field] = {}
    for each in found:
        if each.number in by_number or allowed.get(each.number) != each.wire:
            return None
        by_number[each.number] = each
    return by_number


def _place(found: Field | None) -> slice:
    return slice(0, 0) if found is None else slice(found.start, found.stop)
