"""Where a window's files go: ``<output_path>/window_0001/rank_0.profile/``."""

from __future__ import annotations

import os
import re
from pathlib import Path

from summarykit.profiler.frames import SUFFIX

_WINDOW = re.compile(r"window_(\d+)")


def new_window(output_path: Path, rank: int) -> Path:
    """Make a directory for this rank in the window after its last one; several ranks that begin one each meet in one window.

    Returns:
        The directory of the rank's records.

    Raises:
        OSError: it cannot be made.
    """
    output_path.mkdir(parents=True, exist_ok=True)
    number = max(windows(output_path, rank), default=0) + 1
    while True:
        directory = output_path / f"window_{number:04d}" / f"rank_{rank}{SUFFIX}"
        directory.parent.mkdir(exist_ok=True)
        try:
            os.mkdir(directory)
        except FileExistsError:    # another process with this rank was faster
            number += 1
        else:
            return directory


def windows(output_path: Path, rank: int) -> dict[int, Path]:
    """The windows in which a rank recorded: directory by number."""
    found = {}
    for entry in sorted(output_path.glob(f"window_*/rank_{rank}{SUFFIX}")):
        if number := _WINDOW.fullmatch(entry.parent.name):
            found[int(number[1])] = entry.parent
    return found
