"""``info.json.<device>``: what the device is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from summarykit.profiler.parsers.ascend.files import text

_NUMBERS = ("aic_frequency", "ai_core_num")


def json_object(path: Path, skipped: Counter[str]) -> dict[str, Any]:
    """What a JSON file holds; empty where there is none, or none that can be read, which is counted."""
    if not path.is_file():
        return {}
    try:
        value = json.loads(text([path], skipped))
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    skipped[f"{path.name} is no JSON object"] += 1
    return {}


def numbers(info: dict[str, Any]) -> dict[str, float]:
    """``aic_frequency`` (MHz) and ``ai_core_num``, where they are told."""
    devices = info.get("DeviceInfo")
    first = devices[0] if isinstance(devices, list) and devices and isinstance(devices[0], dict) else {}
    return {name: float(first[name]) for name in _NUMBERS if str(first.get(name, "")).replace(".", "", 1).isdecimal()}
