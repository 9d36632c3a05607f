"""Records one by one: scalars are taken, of everything else only what and where it is. Heavy payloads are not touched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from summarykit.formats.dialect import Dialect
from summarykit.reading import wire
from summarykit.reading.layout import EXACT_VALUE, STEP, SUMMARY, TAG, VALUE, WALL_TIME, plugin_of
from summarykit.reading.wire import BYTES, FIXED32, FIXED64, VARINT, Field

ORIGIN, EVENT_TAG = 1000, 1001
_START = 1    # status of a session log


class Entry(NamedTuple):
    """Something that is decoded when asked for.

    Attributes:
        kind: its kind; ``""`` where the plugin of its tag decides.
        tag: its tag.
        record: offset of the record's payload, which orders entries.
        step: the event's step.
        wall_time: the event's, in seconds.
        offset: where the message ``Summary.Value`` (of a blob that is a whole event: the blob) begins in the file.
        length: its bytes.
        whole: whether it is such a whole event's blob.
    """

    kind: str
    tag: str
    record: int
    step: int
    wall_time: float
    offset: int
    length: int
    whole: bool = False


class Number(NamedTuple):
    """A scalar that came alone."""

    tag: str
    record: int
    step: int
    wall_time: float
    value: float


@dataclass
class Findings:
    """What the walk over some records of one file found, in their order.

    Attributes:
        numbers: scalars.
        entries: everything else.
        plugins: tag -> offset of the record that first told its plugin, the plugin's name and content.
        restarts: offset and step of each START of a session (TensorFlow's way to tell that the steps from there on come anew).
        opening: offset and length of the first payload that names its origin.
    """

    numbers: list[Number] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    plugins: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    restarts: list[tuple[int, int]] = field(default_factory=list)
    opening: tuple[int, int] | None = None

    def plugin(self, tag: str, told: tuple[int, str, bytes]) -> None:
        """Note the plugin of a tag: the first record that names one counts."""
        if told[1] and (tag not in self.plugins or told[0] < self.plugins[tag][0]):
            self.plugins[tag] = told

    def add(self, later: Findings) -> None:
        """Append what another record holds."""
        self.numbers += later.numbers
        self.entries += later.entries
        for tag, told in later.plugins.items():
            self.plugin(tag, told)
        self.restarts += later.restarts
        self.opening = self.opening or later.opening


def walk(data: Any, length: int, offset: int, dialect: Dialect) -> Findings:
    """Walk one record.

    Args:
        data: the payload: indexable like bytes.
        length: its number of bytes.
        offset: where it is in the file.
        dialect: its format's field numbers.

    Raises:
        MalformedError: it is no message.
    """
    event = list(wire.fields(data, 0, length))
    record = _Record(data, offset, dialect, _step(event), _wall_time(data, event), Findings(), _tag(data, event))
    for each in event:
        if each.number == SUMMARY and each.wire == BYTES and dialect.values:
            record.summary(each)
        elif each.number == ORIGIN and each.wire == BYTES:
            record.found.opening = offset, length
        elif each.wire == BYTES:
            record.whole(each)
    return record.found


def _step(event: list[Field]) -> int:
    return next((wire.signed(each.value) for each in reversed(event) if (each.number, each.wire) == (STEP, VARINT)), 0)


def _wall_time(data: Any, event: list[Field]) -> float:
    return next((wire.double(data, each.start) for each in reversed(event) if (each.number, each.wire) == (WALL_TIME, FIXED64)), 0.0)


def _tag(data: Any, event: list[Field]) -> str:
    """The event's own tag: graphs of ours have one."""
    return next((wire.text(data[each.start : each.stop]) for each in event if (each.number, each.wire) == (EVENT_TAG, BYTES)), "")


@dataclass
class _Record:
    data: Any
    offset: int
    dialect: Dialect
    step: int
    wall_time: float
    found: Findings
    own_tag: str

    def whole(self, each: Field) -> None:
        """What an event holds beside a summary."""
        if each.number in self.dialect.events:
            kind, tag = self.dialect.events[each.number]
            self.entry(kind, self.own_tag or tag, each, whole=True)
        elif each.number == self.dialect.session_log:
            status = [inner.value for inner in wire.fields(self.data, each.start, each.stop) if (inner.number, inner.wire) == (1, VARINT)]
            if status[-1:] == [_START]:
                self.found.restarts.append((self.offset, self.step))

    def summary(self, summary: Field) -> None:
        """Take the values of a summary."""
        for value in wire.fields(self.data, summary.start, summary.stop):
            if (value.number, value.wire) == (VALUE, BYTES):
                self.value(value, {each.number: each for each in wire.fields(self.data, value.start, value.stop)})

    def value(self, value: Field, fields: dict[int, Field]) -> None:
        """One ``Summary.Value``, its fields by number."""
        tag = self.text(fields.get(TAG))
        plugin = self.metadata(fields)
        self.found.plugin(tag, (self.offset, *plugin))
        number = self.number(fields)
        if number is not None:
            self.found.numbers.append(Number(tag, self.offset, self.step, self.wall_time, number))
            return
        kind = self.kind(fields)
        if kind is not None:
            self.entry(kind or (self.dialect.kind(plugin[0]) if plugin[0] else ""), tag, value)

    def metadata(self, fields: dict[int, Field]) -> tuple[str, bytes]:
        """Name and content of the plugin that a value names; empty where it names none."""
        found = fields.get(self.dialect.metadata)
        return plugin_of(self.data, found) if found is not None and found.wire == BYTES else ("", b"")

    def number(self, fields: dict[int, Field]) -> float | None:
        """A scalar: the exact value where it is told."""
        number, exact = fields.get(self.dialect.scalar), fields.get(EXACT_VALUE)
        if number is None or number.wire != FIXED32:
            return None
        if exact is not None and exact.wire == FIXED64:
            return wire.double(self.data, exact.start)
        return wire.single(self.data, number.start)

    def kind(self, fields: dict[int, Field]) -> str | None:
        """What a value's fields tell: ``""`` where its plugin tells it, None where there is nothing."""
        dialect = self.dialect
        present = {number for number, each in fields.items() if each.wire == BYTES and number}
        if dialect.blob in present:
            return self.plugin(fields[dialect.blob])
        own = [kind for number, kind in dialect.values.items() if number in present and number != dialect.tensor]
        if own:
            return own[0]
        return "" if {dialect.tensor, dialect.metadata} & present else None

    def plugin(self, blob: Field) -> str:
        """The kind that the plugin named in a blob of ours shows."""
        names = [each for each in wire.fields(self.data, blob.start, blob.stop) if (each.number, each.wire) == (1, BYTES)]
        return self.dialect.kind(self.text(names[-1] if names else None))

    def entry(self, kind: str, tag: str, place: Field, *, whole: bool = False) -> None:
        """Note where a value lies."""
        where = self.offset + place.start, place.stop - place.start
        self.found.entries.append(Entry(kind, tag, self.offset, self.step, self.wall_time, *where, whole))

    def text(self, place: Field | None) -> str:
        """A text; empty where there is none."""
        return wire.text(self.data[place.start : place.stop]) if place is not None and place.wire == BYTES else ""
