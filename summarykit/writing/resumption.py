"""Continuing an earlier run: of the writers that do so together, the first that comes says so, in its first file.

A second one that said so would hide what the first has recorded since.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

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
def alone(directory: str, name: str) -> Iterator[None]:
    """Within this context nobody else looks who has begun there: by a lock of the directory, or, where the file system has none, by a file.

    Args:
        directory: it is there.
        name: of the resumption.
    """
    latest = time.monotonic() + ALONE_SECS
    let_go = _locked(directory, latest) or _claimed(os.path.join(directory, f".{name}"), latest)
    try:
        yield
    finally:
        let_go()


def _locked(directory: str, latest: float) -> Callable[[], None] | None:
    """Lock it; None where there are no locks."""
    try:
        import fcntl
    except ImportError:    # Windows
        return None
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        _try_until(latest, BlockingIOError, partial(fcntl.flock, descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return partial(_unlock, descriptor)


def _unlock(descriptor: int) -> None:
    import fcntl

    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)    # a child that was forked meanwhile has a copy of the descriptor
    os.close(descriptor)


def _claimed(path: str, latest: float) -> Callable[[], None]:
    """Make a file that only one can make. Who waited in vain takes that of the other away in the end, which may have died with it."""
    with suppress(OSError):    # nothing can be made there: then no file of values either
        _try_until(latest, FileExistsError, lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)))
    return partial(_disclaim, path)


def _disclaim(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _try_until(latest: float, held: type[OSError], take: Callable[[], object]) -> None:
    """Try to take what somebody else may hold, until it is too late."""
    while not _taken(held, take) and time.monotonic() < latest:
        time.sleep(0.002)


def _taken(held: type[OSError], take: Callable[[], object]) -> bool:
    try:
        take()
    except held:
        return False
    return True
