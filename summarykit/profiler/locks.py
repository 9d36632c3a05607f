"""Locks that a fork leaves free in the child: whoever forks holds them meanwhile, so that no other thread is in the middle of something."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from typing import Any


def fork_safe() -> AbstractContextManager[Any]:
    """Make a re-entrant lock of this kind; it lives as long as the process."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
