"""Stores checkpoints of a training that goes on: the weights are frozen in the call, files are written by a thread."""

from __future__ import annotations

import os
import queue
import shutil
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Frozen, freeze, let_go
from summarykit.kinds.fence import FENCE
from summarykit.landscape import metadata, weights
from summarykit.landscape.metadata import TrainMetadata
from summarykit.landscape.models import Network, network_of
from summarykit.notices import Notices, logger
from summarykit.shapes import Array

_WAITING = 2    # checkpoints in memory
_PATIENCE = 5.0    # seconds that training waits for room; once, until a checkpoint was stored again
_END = 60.0    # seconds that the end of a training waits for the disk


@dataclass(frozen=True)
class Snapshot:
    """A frozen state.

    Attributes:
        number: step or epoch.
        file: name of the checkpoint's file.
        values: by name; some may still be on a device, or be copied beside the training.
        told: what is said in the file.
    """

    number: int
    file: str
    values: Mapping[str, Frozen]
    told: Mapping[str, Any]


class CheckpointSaver:
    """Stores checkpoints below ``<summary_dir>/ckpt_dir``, and keeps ``train_metadata.json`` current, so that a killed run's are usable.

    Nothing here raises because of the disk: what is not stored is counted with its reason, and told once.
    """

    def __init__(self, summary_dir: Path, told: TrainMetadata, network: Any, *, fence: bool = True, notices: Notices | None = None) -> None:
        """Make the directory, and say how much will be stored.

        Args:
            summary_dir: the run's directory.
            told: what to collect; checkpoints that it names already are kept.
            network: whose weights.
            fence: let the copies of parameters of torch on the CPU run until the next optimizer step; see ``SummaryRecord``.
            notices: for what is told once.

        Raises:
            TypeError: no weights are known of such a network.
        """
        self._directory = summary_dir / metadata.DIRECTORY
        self._told, self._fence, self._notices = told, fence, notices or Notices()
        self._network: Network = network_of(network)
        self._name = type(network).__name__
        self._queue: queue.Queue[Snapshot | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._patience = _PATIENCE
        self._bytes = 0
        self._stored = 0
        self._lost: Counter[str] = Counter()
        self._begin()

    def save(self, number: int) -> bool:
        """Freeze the weights as they are and store them soon; True if that was accepted.

        Args:
            number: the step or epoch.
        """
        if os.getpid() != self._process:    # a forked child does not train
            return False
        try:
            self._queue.put(self._snapshot(number), timeout=self._patience)
        except RefusedValueError as error:
            return self._lose(f"the weights cannot be stored: {error}")
        except queue.Full:
            self._patience = 0.0
            return self._lose("the disk is too slow: two checkpoints are waiting already")
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="summarykit-checkpoints", daemon=True)
            self._thread.start()
        return True

    def stats(self) -> dict[str, Any]:
        """What became of the checkpoints: ``stored``, ``bytes``, ``lost`` (by reason)."""
        return {"stored": self._stored, "bytes": self._bytes, "lost": dict(self._lost)}

    def close(self) -> None:
        """Wait until everything is stored, a minute at most."""
        thread, self._thread = self._thread, None
        if thread is None or os.getpid() != self._process:
            return
        deadline = time.monotonic() + _END
        try:
            self._queue.put(None, timeout=_END)
        except queue.Full:
            self._lose("the disk was too slow at the end of the training")
            return
        thread.join(max(0.0, deadline - time.monotonic()))

    def _begin(self) -> None:
        each = sum(int(getattr(value, "nbytes", 0)) for value in self._network.state().values())
        count = len(self._told.settings.wanted)
        message = "landscape: up to %d checkpoints of %.1f MB each, %.2f GB in all, go to %s"
        logger.info(message, count, each / 1e6, count * each / 1e9, self._directory)
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._told.write(self._directory)
            free = shutil.disk_usage(self._directory).free
        except OSError as error:
            self._lose(f"the directory cannot be written to: {error}")
            return
        if count * each > free:
            message = "landscape: %.2f GB of checkpoints are to be stored, and %s has %.2f GB left"
            self._notices.once("room", message, count * each / 1e9, self._directory, free / 1e9)
        if self._fence:
            let_go(map(FENCE.hold, self._network.state().values()))    # from the next optimizer step on the fence knows the parameters

    def _snapshot(self, number: int) -> Snapshot:
        file = f"{self._name}_{number}_{self._told.settings.unit}.safetensors"
        values = {name: self._frozen(value) for name, value in self._network.state().items()}
        return Snapshot(number, file, values, {"parameters": self._network.trained(), "filter_axis": self._network.filter_axis})

    def _frozen(self, value: Any) -> Frozen:
        return (FENCE.hold(value) if self._fence else None) or freeze(value)

    def _work(self) -> None:
        while (snapshot := self._queue.get()) is not None:
            try:
                self._store(snapshot)
            except (RefusedValueError, OSError) as error:    # noqa: PERF203  # each checkpoint on its own
                self._lose(str(getattr(error, "strerror", None) or error))

    def _store(self, snapshot: Snapshot) -> None:
        arrays: dict[str, Array] = {name: value.get().data for name, value in snapshot.values.items()}
        most = self._told.settings.max_bytes
        if most is not None and self._bytes + weights.size(arrays, snapshot.told) > most:
            self._lose(f"max_bytes={most:,} would be exceeded")
            return
        self._bytes += weights.save(self._directory / snapshot.file, arrays, snapshot.told)
        self._told = replace(self._told, files={**self._told.files, snapshot.number: snapshot.file})
        self._told.write(self._directory)
        self._stored += 1
        self._patience = _PATIENCE

    def _lose(self, reason: str) -> bool:
        self._lost[reason] += 1
        self._notices.once(("landscape", reason), "landscape: a checkpoint is not stored: %s; training goes on", reason)
        return False
