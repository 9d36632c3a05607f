"""What only one window of a process can have at a time: a framework's own profiler."""

from __future__ import annotations

from summarykit.notices import logger
from summarykit.profiler.locks import fork_safe

_lock = fork_safe()
_owners: dict[str, object] = {}


def claim(what: str, owner: object) -> bool:
    """Take it, unless somebody has it; who does not get it is told so in the log."""
    with _lock:
        if _owners.setdefault(what, owner) is owner:
            return True
    logger.warning("profiler: %s is in use by another window of this process: this one goes without it", what)
    return False


def release(what: str, owner: object) -> None:
    """Give it back."""
    with _lock:
        if _owners.get(what) is owner:
            del _owners[what]
