"""Events of a Chrome trace whose file holds a plain array, as the device's own tools write them: one file an iteration, so a small one."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from summarykit.profiler.parsers.ascend.files import text

_GAP = re.compile(r"[\s,\[]*")
_DECODER = json.JSONDecoder()


def events(path: Path, skipped: Counter[str]) -> Iterator[dict[str, Any]]:
    """The events; of a file that is cut, those before the cut."""
    content = text([path], skipped)
    place = _GAP.match(content).end()    # type: ignore[union-attr]  # it matches the empty text, too
    while place < len(content) and content[place] != "]":
        try:
            event, place = _DECODER.raw_decode(content, place)
        except (ValueError, RecursionError):
            skipped[f"{path.name} is damaged or cut"] += 1
            return
        if isinstance(event, dict):
            yield event
        else:
            skipped["events that are no objects"] += 1
        place = _GAP.match(content, place).end()    # type: ignore[union-attr]


def nanoseconds(value: Any) -> int | None:
    """Nanoseconds of a time in µs, a number or a text; None where it is no such time."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return round(number * 1000) if math.isfinite(number) and abs(number) < 2**52 else None
