"""What is to be said of one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from summarykit.reading.damage import Damage


@dataclass(frozen=True)
class FileReport:
    """The state of one summary file.

    Attributes:
        path: the file.
        format: ``"mindspore"``, ``"lineage"``, ``"tensorboard"``; None where the name does not tell.
        records: sound records.
        bytes: size of the file.
        damage: places that hold no readable record.
        truncated: where a record begins that the file's end cuts off; None where there is none. Its writer may be about to complete it.
    """

    path: Path
    format: str | None
    records: int
    bytes: int
    damage: Sequence[Damage] = ()
    truncated: int | None = None

    @property
    def ok(self) -> bool:
        """Whether every byte belongs to a sound record."""
        return not self.damage and self.truncated is None


@dataclass(frozen=True)
class Report:
    """The state of several files.

    Attributes:
        files: each file that was read.
        written: files that were made of them (by ``repair`` and ``convert``).
        left_out: kind -> number of points that the new format's viewer does not show, only our reader (by ``convert``).
    """

    files: Sequence[FileReport]
    written: Sequence[Path] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether all of them are sound."""
        return all(file.ok for file in self.files)

    @property
    def records(self) -> int:
        """Sound records in all of them."""
        return sum(file.records for file in self.files)

    @property
    def bytes(self) -> int:
        """Bytes of all of them."""
        return sum(file.bytes for file in self.files)

    @property
    def damage(self) -> list[Damage]:
        """Every damaged place."""
        return [each for file in self.files for each in file.damage]
