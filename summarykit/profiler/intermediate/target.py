"""The folder that the files of one device go to."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from summarykit.profiler.intermediate.dialect import Dialect
from summarykit.profiler.recording import Recording, Table


class Target:
    """Writes files, each whole or not at all, and knows what they are written for.

    Attributes:
        folder: where they go.
        device: the number in their names.
        dialect: the generation of MindInsight.
        kind: ``"ascend"``, ``"gpu"`` or ``"cpu"``: MindInsight shows different pages for each.
        written: the files, in order.
    """

    def __init__(self, folder: Path, recording: Recording, dialect: Dialect) -> None:
        """Make the folder.

        Args:
            folder: see there.
            recording: gives device and kind.
            dialect: see there.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.dialect, self.device, self.kind = folder, dialect, recording.rank, kind_of(recording)
        self.written: list[Path] = []

    def text(self, name: str, content: str) -> None:
        """Write a text; ``{}`` in the name stands for the device."""
        path = self.folder / name.format(self.device)
        unfinished = path.with_name(path.name + ".part")
        unfinished.write_text(content, encoding="utf-8", newline="")
        unfinished.replace(path)
        self.written.append(path)

    def csv(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write rows below a header."""
        content = io.StringIO()
        writer = csv.writer(content, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        self.text(name, content.getvalue())

    def json(self, name: str, value: Any) -> None:
        """Write JSON."""
        self.text(name, json.dumps(value, allow_nan=False))


def kind_of(recording: Recording) -> str:
    """What ran it: ``"ascend"``, ``"gpu"`` (some other accelerator) or ``"cpu"``."""
    if recording.source == "ascend":
        return "ascend"
    return "gpu" if recording.source == "gpu" or any(lane.device for lane in recording.spans.lanes) else "cpu"


def rows(table: Table, *names: str) -> list[tuple[Any, ...]]:
    """Rows of some columns, as Python values."""
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def finite(value: float) -> float:
    """A number that JSON can hold: 0 for what is none."""
    return value if math.isfinite(value) else 0.0
