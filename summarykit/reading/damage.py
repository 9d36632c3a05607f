"""What was found broken, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

BAD_LENGTH = "wrong checksum of the length"
BAD_DATA = "wrong checksum of the data"
NOT_AN_EVENT = "not a readable event"


@dataclass(frozen=True)
class Damage:
    """Bytes of a file that hold no readable record.

    Attributes:
        file: the file.
        offset: first byte.
        length: number of bytes.
        reason: what was wrong with the first of them.
        records: how many records are lost there, at least.
    """

    file: Path
    offset: int
    length: int
    reason: str
    records: int = 1

    @property
    def end(self) -> int:
        """First byte behind it."""
        return self.offset + self.length

    def __str__(self) -> str:
        return f"{self.file}: {self.length} bytes at {self.offset}: {self.reason} ({self.records} or more records)"


def add(found: list[Damage], new: Damage) -> None:
    """Append, or lengthen the last one where the new one follows on it: a ruined file must not fill the memory."""
    last = found[-1] if found else None
    if last is not None and last.end == new.offset and last.reason == new.reason:
        found[-1] = Damage(last.file, last.offset, last.length + new.length, last.reason, last.records + new.records)
    else:
        found.append(new)
