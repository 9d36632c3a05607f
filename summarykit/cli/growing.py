"""Whether a file may be being written at this moment: then a torn end is no damage, its writer is about to complete it."""

from __future__ import annotations

import time
from pathlib import Path

from summarykit.clock import Process
from summarykit.formats import origin
from summarykit.formats.origin import Origin

_RECENT = 60.0
_HEADER = 12
_LONGEST = 1 << 16


def is_growing(file: Path) -> bool:
    """Whether its writer lives; where that is not known, whether it changed within the last minute."""
    writer = _writer(file)
    if writer is not None and writer.process.surely_dead():
        return False
    return (writer is not None and _is_here(writer.process)) or time.time() - file.stat().st_mtime < _RECENT


def _writer(file: Path) -> Origin | None:
    with open(file, "rb") as stream:
        length = int.from_bytes(stream.read(_HEADER)[:8], "little")
        return origin.decode(stream.read(min(length, _LONGEST)))


def _is_here(process: Process) -> bool:
    """Whether this machine could tell that it is dead."""
    here = Process.current()
    same = (process.boot, process.pid_namespace, process.host) == (here.boot, here.pid_namespace, here.host)
    return same and bool(process.boot and process.start)
