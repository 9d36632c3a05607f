"""Where in an event the tag, the step and the numbers are: learned from one record, used for all that look like it."""

from __future__ import annotations

from collections.abc import Iterable
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
_PLAIN = (1, 2, 3, 4, 5, 6)    # fields of a TensorProto that may stand beside it


class Slot(NamedTuple):
    """One value of the summary.

    Attributes:
        tag: where its tag is.
        free: where bytes are that differ from record to record.
        number: of a scalar, where its number is.
        dtype: of a scalar, the number's dtype; else ``""``.
        kind: of anything else, its kind; ``""`` where the plugin decides.
        message: of anything else, where the message ``Summary.Value`` is.
        plugin: name and content of the plugin, where the value tells it.
    """

    tag: slice
    free: tuple[slice, ...]
    number: int = 0
    dtype: str = ""
    kind: str = ""
    message: slice = slice(0, 0)
    plugin: tuple[str, bytes] | None = None


@dataclass(frozen=True)
class Layout:
    """Positions in the payload; where the event lacks the field, wall time and step are empty slices."""

    wall_time: slice
    step: slice
    slots: tuple[Slot, ...]

    def varying(self, length: int) -> Array:
        """True where bytes may differ between records of this layout; of a single value the tag may, too."""
        free = np.zeros(length, np.bool_)
        free[self.wall_time] = free[self.step] = True
        for slot in self.slots:
            for place in slot.free:
                free[place] = True
        if len(self.slots) == 1:
            free[self.slots[0].tag] = True
        return free


def layout(row: Any, dialect: Dialect) -> Layout | None:
    """The layout of an event that holds scalars, or one value of another kind; None where it is anything else, or not as usual.

    Args:
        row: the payload, bytes-like.
        dialect: its format's field numbers.
    """
    try:
        found = _once(wire.fields(row, 0, len(row)), {WALL_TIME: FIXED64, STEP: VARINT, SUMMARY: BYTES})
        if found is None or SUMMARY not in found or not dialect.values:
            return None
        slots = [_slot(row, value, dialect) for value in _values(row, found[SUMMARY])]
    except wire.MalformedError:
        return None
    known = tuple(slot for slot in slots if slot is not None)
    if not known or len(known) < len(slots) or (len(known) > 1 and not all(slot.dtype for slot in known)):
        return None
    return Layout(_place(found.get(WALL_TIME)), _place(found.get(STEP)), known)


def _values(row: Any, summary: Field) -> list[Field]:
    found = list(wire.fields(row, summary.start, summary.stop))
    return found if all((each.number, each.wire) == (VALUE, BYTES) for each in found) else []


def _slot(row: Any, value: Field, dialect: Dialect) -> Slot | None:
    found = _once(wire.fields(row, value.start, value.stop))
    if found is None or TAG not in found:
        return None
    if dialect.scalar in found:
        return _number_slot(found, dialect)
    metadata = found.get(dialect.metadata)
    plugin = plugin_of(row, metadata) if metadata is not None and metadata.wire == BYTES else None
    if plugin is not None and plugin[0] == "scalars" and dialect.tensor in found:
        return _tensor_slot(row, found, dialect)
    return _other_slot(value, found, dialect, plugin)


def _number_slot(found: dict[int, Field], dialect: Dialect) -> Slot | None:
    number, exact, tag = found[dialect.scalar], found.get(EXACT_VALUE), _place(found[TAG])
    if number.wire != FIXED32 or len(found) != (2 if exact is None else 3):
        return None
    if exact is None:
        return Slot(tag, (_place(number),), number.start, "<f4")
    return Slot(tag, (_place(number), _place(exact)), exact.start, "<f8") if exact.wire == FIXED64 else None


def _tensor_slot(row: Any, found: dict[int, Field], dialect: Dialect) -> Slot | None:
    """A scalar as TensorFlow 2 writes it: a tensor of one float32 or float64 whose plugin is named beside it."""
    tensor = found[dialect.tensor]
    inner = list(wire.fields(row, tensor.start, tensor.stop))
    kinds = [each.value for each in inner if each.number == 1]
    width = {_FLOAT: 4, _DOUBLE: 8}.get(kinds[0]) if len(kinds) == 1 else None
    numbers = [each for each in inner if (each.number, each.wire) in _NUMBERS]
    if len(numbers) != 1 or numbers[0].stop - numbers[0].start != width or any(each.number not in _PLAIN for each in inner):
        return None
    if _NUMBERS[numbers[0].number, numbers[0].wire] not in (0, width) or set(found) != {TAG, dialect.tensor, dialect.metadata}:
        return None
    plugin = plugin_of(row, found[dialect.metadata])
    return Slot(_place(found[TAG]), (_place(numbers[0]),), numbers[0].start, f"<f{width}", plugin=plugin)


def _other_slot(value: Field, found: dict[int, Field], dialect: Dialect, plugin: tuple[str, bytes] | None) -> Slot | None:
    """Anything else whose kind a field's number, or its plugin, tells."""
    by_plugin = dialect.kind(plugin[0]) if plugin is not None and plugin[0] else ""
    kinds = [by_plugin if number == dialect.tensor else kind for number, kind in dialect.values.items() if number in found]
    if len(kinds) != 1 or dialect.blob in found or any(each.wire == VARINT for each in found.values()):
        return None
    free = tuple(_place(each) for number, each in found.items() if number not in (TAG, dialect.metadata))
    return Slot(_place(found[TAG]), free, kind=kinds[0], message=_place(value), plugin=plugin)


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


def _once(found: Iterable[Field], allowed: dict[int, int] | None = None) -> dict[int, Field] | None:
    """Fields by number; None where one repeats or is not among the allowed (number -> wire type)."""
    by_number: dict[int, Field] = {}
    for each in found:
        if each.number in by_number or (allowed is not None and allowed.get(each.number) != each.wire):
            return None
        by_number[each.number] = each
    return by_number


def _place(found: Field | None) -> slice:
    return slice(0, 0) if found is None else slice(found.start, found.stop)
