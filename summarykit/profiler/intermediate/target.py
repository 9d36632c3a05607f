"""What the files of one device are gathered in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from summarykit.profiler.intermediate.dialect import Dialect
from summarykit.profiler.recording import Recording, Table


class Target:
    """Gathers files, and knows what they are made for.

    Attributes:
        device: the number in their names.
        dialect: the generation of MindInsight.
        kind: ``"ascend"``, ``"gpu"`` or ``"cpu"``: MindInsight shows different pages for each.
        files: name -> parts of its content, which may be made only while they are written.
    """

    def __init__(self, recording: Recording, dialect: Dialect) -> None:
        """Begin with no file.

        Args:
            recording: gives device and kind.
            dialect: see there.
        """
        self.dialect, self.device, self.kind = dialect, recording.rank, kind_of(recording)
        self.files: dict[str, Iterable[str]] = {}

    def text(self, name: str, content: str) -> None:
        """Add a text; ``{}`` in the name stands for the device."""
        self.parts(name, [content])

    def parts(self, name: str, content: Iterable[str]) -> None:
        """Add a text that is too long to be in memory as a whole."""
        self.files[name.format(self.device)] = content

    def csv(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows below a header."""
        content = io.StringIO()
        writer = csv.writer(content, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        self.text(name, content.getvalue())

    def json(self, name: str, value: Any) -> None:
        """Add JSON."""
        self.text(name, json.dumps(value, allow_nan=False))


def kind_of(recording: Recording) -> str:
    """What ran it: ``"ascend"``, ``"gpu"`` (some other accelerator) or ``"cpu"``."""
    if recording.source == "ascend":
        return "ascend"
    return "gpu" if recording.source == "gpu" or any(lane.device for lane in recording.spans.lanes) else "cpu"


def rows(table: Table, *names: str) -> list[tuple[Any, ...]]:
    """Rows of some columns, as Python values."""
    return list(zip(*(table[name].tolist() for name in names), strict=True))
