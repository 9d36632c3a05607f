"""Written is not yet safe from a power failure: brings a writer's files to the disk, every 30 s and behind ``close()``."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import NamedTuple

from summarykit.writing.file import RecordFile
from summarykit.writing.stats import Stats
from summarykit.writing.syncer import Syncer

SYNC_SECS = 30.0
"""Seconds between two background syncs to the disk."""


Sync = Callable[[], None]
"""Brings something to the disk; may raise an ``OSError``."""


class Unsynced(NamedTuple):
    """What no sync has seen yet: open files, and paths of closed files and of directories."""

    files: list[RecordFile]
    paths: list[str]


class Durable:
    """Hands what no sync has seen to the syncer."""

    def __init__(self, stats: Stats, syncer: Syncer, unsynced: Callable[[], Unsynced]) -> None:
        """``unsynced`` gives it, each thing once."""
        self._stats = stats
        self._syncer = syncer
        self._unsynced = unsynced
        self._synced_at = monotonic()
        self._synced_bytes = 0

    def beat(self) -> None:
        """Sync now and then, where something was written."""
        now = monotonic()
        if now - self._synced_at >= SYNC_SECS and self._synced_bytes != self._stats.bytes:
            self._synced_at, self._synced_bytes = now, self._stats.bytes
            self.sync(self.prepare())

    def prepare(self) -> list[Sync]:
        """The syncs of what no sync has seen, which work also when it is closed; what no descriptor is free for is synced here and now."""
        files, paths = self._unsynced()
        return [*map(self._later, files), *(partial(sync_path, path) for path in paths)]    # files first: each leaves a descriptor free

    def sync(self, syncs: list[Sync], *, by_me: bool = False) -> None:
        """Do these in the background (see `Syncer.ask`)."""
        self._syncer.ask(partial(self._do_all, syncs), by_me=by_me)

    def _later(self, file: RecordFile) -> Sync:
        try:
            return partial(_sync_and_close, os.dup(file.fd))
        except OSError:
            self._do(file.sync)
            return lambda: None

    def _do_all(self, syncs: list[Sync]) -> None:
        for sync in syncs:
            self._do(sync)

    def _do(self, sync: Sync) -> None:
        try:
            sync()
        except OSError as error:    # what was written stays written: no writer should fail to end for that
            self._stats.say(("sync", error.errno), "cannot sync to the disk (%s); training goes on", error)


def sync_path(path: str) -> None:
    """Bring a closed file, or a directory's names, to the disk; what was deleted needs none."""
    if os.name == "posix":
        with suppress(FileNotFoundError, NotADirectoryError):
            _sync_and_close(os.open(path, os.O_RDONLY))


def _sync_and_close(fd: int) -> None:
    try:
        os.fsync(fd)
    finally:
        with suppress(OSError):    # closed by somebody else; or a file server tells only now what it could not keep
            os.close(fd)
