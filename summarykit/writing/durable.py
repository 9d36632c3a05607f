"""Written is not yet safe from a power failure: brings a writer's files to the disk, every 30 s and behind ``close()``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from time import monotonic

from summarykit.writing.stats import Stats
from summarykit.writing.syncer import Syncer

SYNC_SECS = 30.0
"""Seconds between two background syncs to the disk."""


def opened(ways: Iterable[Callable[[], int]]) -> list[int]:
    """Descriptors to be synced and closed; without those that cannot be had, since a file is gone or this process has too many open."""
    descriptors = []
    for way in ways:
        with suppress(OSError):    # what was written stays written: no writer should fail to end for that
            descriptors.append(way())
    return descriptors


class Durable:
    """Hands descriptors of what no sync has seen to the syncer."""

    def __init__(self, stats: Stats, syncer: Syncer, unsynced: Callable[[], list[int]]) -> None:
        """``unsynced`` gives the descriptors; the receiver closes them."""
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
            self.sync(self._unsynced())

    def sync(self, descriptors: list[int], *, by_me: bool = False) -> None:
        """Sync these in the background (see `Syncer.ask`)."""
        self._syncer.ask(partial(self._sync, descriptors), by_me=by_me)

    def _sync(self, descriptors: list[int]) -> None:
        try:
            for fd in descriptors:
                os.fsync(fd)
        except OSError as error:
            self._stats.say(("sync", error.errno), "cannot sync to the disk (%s); training goes on", error)
        finally:
            for fd in descriptors:
                with suppress(OSError):    # closed by somebody else; or a file server tells only now what it could not keep
                    os.close(fd)
