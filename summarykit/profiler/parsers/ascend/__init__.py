"""Raw captures of Ascend: the folder of a job, or one raw file of it. One recording a device."""

from __future__ import annotations

from pathlib import Path

from summarykit.profiler.parsers.ascend.files import JobFiles
from summarykit.profiler.parsers.ascend.job import read
from summarykit.profiler.recording import Recording


def sniff(path: Path) -> bool:
    """Whether names of raw files are there: in the folder, or in ``data`` below it."""
    try:
        return bool(JobFiles(path).devices)
    except OSError:
        return False


def parse(path: Path) -> list[Recording]:
    """Read each device.

    Raises:
        OSError: a file cannot be read.
    """
    files = JobFiles(path)
    return [read(files, device, path) for device in files.devices]
