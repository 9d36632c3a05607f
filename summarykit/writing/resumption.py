"""Continuing an earlier run: of the writers that do so together, the first that comes says so, in its first file.

A second one that said so would hide what the first has recorded since.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from summarykit.formats import names, origin

ALONE_SECS = 1.0
"""So long, at most, one waits for others that begin: who was stopped in the midst of it must not stop them."""


class Resumption:
    """What a record, its forked children and its copies share when an earlier run is continued.

    Attributes:
        step: the first step to be recorded.
        name: 32 hexadecimal digits, by which they know each other's files.
    """

    def __init__(self, step: int) -> None:
        """A new one."""
        self.step = step
        self.name = os.urandom(16).hex()

    def begins(self, directory: str, file_names: Iterable[str]) -> bool:
        """Whether none of the named files of the directory is of somebody who shares it; lineage, which is no value, does not count."""
        of_values = (name for name in file_names if names.parse(name) and not name.endswith(names.LINEAGE))
        return all(_resumption(os.path.join(directory, name)) != self.name for name in of_values)


def _resumption(path: str) -> str:
    try:
        with open(path, "rb") as file:
            found = origin.first(file.read(origin.FIRST_BYTES))
    except OSError:    # gone meanwhile, or not ours to read: that of a stranger
        return ""
    return found.resumption if found else ""


@contextmanager
def alone(directory: str) -> Iterator[None]:
    """Within this context nobody else looks who has begun there. Where the file system has no locks, nothing is held."""
    descriptor = _locked(directory)
    try:
        yield
    finally:
        if descriptor is not None:
            _unlock(descriptor)


def _locked(directory: str) -> int | None:
    if not os.path.isdir(directory):
        return None
    try:
        import fcntl
    except ImportError:    # Windows
        return None
    descriptor, end = os.open(directory, os.O_RDONLY), time.monotonic() + ALONE_SECS
    while time.monotonic() < end:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.002)
        except OSError:    # no locks here
            break
    return descriptor


def _unlock(descriptor: int) -> None:
    import fcntl

    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)    # a child that was forked meanwhile has a copy of the descriptor
    os.close(descriptor)
