"""Where files of one device are, packed or not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from summarykit.profiler.parsers.ascend.files import text


def find(path: Path, name: str) -> Path | None:
    """A file of this name at a path (itself, or in the folder, or in ``FRAMEWORK`` or ``data`` below it); None where there is none."""
    if path.is_file():
        return path if path.name.removesuffix(".gz") == name else None
    candidates = [place / (name + packing) for place in (path, path / "FRAMEWORK", path / "data") for packing in ("", ".gz")]
    return next((each for each in candidates if each.is_file()), None)


def text_of(path: Path, name: str, skipped: Counter[str]) -> str:
    """The content of such a file; empty where there is none."""
    place = find(path, name)
    return text([place], skipped) if place else ""


def json_of(path: Path, name: str, skipped: Counter[str]) -> dict[str, Any]:
    """What a JSON file holds; empty where there is none, or none that can be read, which is counted."""
    content = text_of(path, name, skipped)
    if not content:
        return {}
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        skipped[f"{name} is no JSON object"] += 1
        return {}
    return value
