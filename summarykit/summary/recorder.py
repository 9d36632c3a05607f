"""What SummaryRecord and SummaryWriter have in common: a writer, and what becomes of values that cannot be recorded."""

from __future__ import annotations

import weakref
from contextlib import nullcontext, suppress
from types import TracebackType
from typing import Any, TypeVar

import summarykit.kinds.scalar  # noqa: F401  the first number should not wait for it
from summarykit.errors import ClosedError, RefusedValueError, StorageError
from summarykit.kinds import KINDS, Kind
from summarykit.kinds.arrays import Held, Typed
from summarykit.kinds.fence import FENCE
from summarykit.kinds.memory import Lending
from summarykit.writing import Writer

Frozen = tuple[Kind, Any]
"""A value as its kind froze it: the kind, and what it gave."""

_R = TypeVar("_R", bound="Recorder")
FENCED = ("histogram", "tensor")
"""Kinds that are recorded of parameters. Without options these take a value as it was held."""
FROZEN = (Typed, Held)
"""What histograms of parameters that were frozen together are made of: nothing is left to do with each."""


class Recorder:
    """Freezes values and brings them to a writer. No value raises unless that was asked for: it is dropped, counted, and told once."""

    def __init__(self, writer: Writer) -> None:
        """Record into a writer."""
        self._finalizer: weakref.finalize[..., Any] | None = None
        self._adopt(writer)

    def _adopt(self, writer: Writer) -> None:
        self._writer = writer
        self._lending = Lending(writer.allocate)
        self._strict = writer.options.raise_exception
        self._fence = writer.options.fence
        if self._finalizer is not None:
            self._finalizer.detach()    # of a writer that was closed
        self._finalizer = weakref.finalize(self, writer.close_later)
        self._finalizer.atexit = False

    def flush(self, sync: bool = False) -> bool:
        """Wait until everything recorded is in the file.

        Args:
            sync: and on the disk (``fsync``), safe from a power failure.

        Returns:
            True where it is; False where writing fails at present, or nothing moved for 5 s.

        Raises:
            StorageError: writing failed since the last call, and ``raise_exception`` is set.
        """
        succeeded = self._writer.flush(sync=sync)
        self._raise_failure()
        return succeeded

    def close(self, timeout: float = 5.0) -> None:
        """Flush and close the files; they are synced to the disk in the background. May be called again, to no effect.

        Args:
            timeout: seconds to wait without any progress: where the storage hangs, closing goes on in the background.

        Raises:
            StorageError: writing failed since the last call, and ``raise_exception`` is set.
        """
        self._writer.close(timeout)    # again, too: a signal handler may close what the loop is just closing, and then end the process
        self._raise_failure()

    @property
    def path(self) -> str | None:
        """The newest file of the first format; None before the first value is written."""
        paths = self._writer.paths()
        return paths[-len(self._writer.options.formats)] if paths else None

    def stats(self) -> dict[str, Any]:
        """What became of the values so far.

        Returns:
            ``recorded``, ``written`` and ``waiting`` (numbers of values), ``dropped`` (reason -> number), ``bytes`` (in all files), ``lag``
            (age of the oldest value that is not in the file, seconds), ``nonfinite`` (tag -> first step whose scalar was NaN or infinite)
            and ``files`` (paths).
        """
        return self._writer.summary()

    def __enter__(self: _R) -> _R:
        if self._writer.closed:
            raise ClosedError(f"this {type(self).__name__} was closed; make a new one")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with nullcontext() if error is None else suppress(StorageError):    # which must not take the place of what ended training
            self.close()

    def _freeze(self, plugin: str, tag: str, value: Any, options: dict[str, Any]) -> Frozen | None:
        """Let its kind freeze a value; None where it is refused.

        Raises:
            ValueError: no kind has that name.
            RefusedValueError: and the like, where ``raise_exception`` is set.
        """
        try:
            kind = KINDS.get(plugin)
            if value.__class__ in FROZEN and plugin == "histogram" and not options:
                return kind, value
            held = FENCE.hold(value, self._lending) if self._fence and plugin in FENCED else None
            if held is not None and not options:
                return kind, held    # what the kind would give, too
            with self._lending:
                return kind, kind.snapshot(value if held is None else held, **options)
        except (RefusedValueError, MemoryError, ImportError, OSError) as error:    # a kind is imported when it is first used
            self._refuse(plugin, tag, error)
            return None

    def _refuse(self, plugin: str, tag: str, error: Exception) -> None:
        """Count a value that cannot be recorded."""
        why = str(error)
        reason = why if why.startswith((f"{plugin}: ", f"{plugin} takes")) else f"{plugin}: {why}"
        self._writer.stats.drop(reason.rstrip("."), detail=f"tag {tag!r}")
        if self._strict:
            raise error

    def _raise_failure(self) -> None:
        """Raise a storage error once, where that was asked for."""
        if not self._strict:
            return
        failure, self._writer.failure = self._writer.failure, None
        if failure is not None:
            raise StorageError(failure.errno, failure.strerror, failure.filename or self._writer.options.directory) from failure
