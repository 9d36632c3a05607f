"""``SummaryWriter.file_writer``: for code that hands over TensorBoard's own messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from summarykit.formats.wire import data
from summarykit.registry import imported
from summarykit.shapes import Shape

_SUMMARY = 5    # field of Event


class Message(Protocol):
    """A protobuf message, of whatever library."""

    def SerializeToString(self) -> bytes:    # noqa: N802 - protobuf's name
        """Its bytes."""


class FileWriter:
    """Takes ``Summary`` and ``Event`` messages and records what is in them as values."""

    def __init__(self, log_dir: str, record: Callable[[str, str, Shape, Any, Any], None], flush: Callable[[], Any]) -> None:
        """Serve a writer.

        Args:
            log_dir: its directory.
            record: records a shape, told kind, tag, shape, step and time.
            flush: brings all into the file.
        """
        self._log_dir = log_dir
        self._record = record
        self.flush = flush

    def get_logdir(self) -> str:
        """The directory."""
        return self._log_dir

    def add_summary(self, summary: Message, global_step: int | None = None, walltime: float | None = None) -> None:
        """Record the values of a ``Summary``."""
        self._points(data(_SUMMARY, summary.SerializeToString()), global_step, walltime)

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Record the values of an ``Event``, at its own step and time unless others are given."""
        self._points(event.SerializeToString(), event.step if step is None else step, walltime)

    def _points(self, payload: bytes, step: Any, wall_time: Any) -> None:
        for point in imported("summarykit.formats.tensorboard.parse").parse(payload):    # most jobs have no messages
            self._record(point.kind, point.tag, point.value, step, point.wall_time or None if wall_time is None else wall_time)
