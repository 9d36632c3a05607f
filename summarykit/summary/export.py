"""Scalars as tensorboardX exports them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def scalars_of(files: Iterable[str], log_dir: str) -> dict[str, list[list[Any]]]:
    """``{"<log_dir>/<tag>": [[time, step, value], ...]}`` of files that one writer wrote; of twins one is read. NaN becomes None."""
    from summarykit.reading import Run

    found: dict[str, list[list[Any]]] = {}
    for file in _of_one_format([Path(file) for file in files]):
        run = Run(file, raw=True)
        for tag in run.tags().get("scalar", []):
            series = run.scalars(tag)
            rows = zip(series.wall_time.tolist(), series.step.tolist(), series.value.tolist(), strict=True)
            plain = ([when, step, value if math.isfinite(value) else None] for when, step, value in rows)
            found.setdefault(f"{log_dir}/{tag}", []).extend(plain)
    return found


def _of_one_format(files: list[Path]) -> list[Path]:
    there = [file for file in files if file.exists()]
    tensorboard = [file for file in there if "tfevents" in file.name]
    return tensorboard or there
