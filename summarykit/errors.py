"""Every exception that summarykit raises on purpose."""

from __future__ import annotations


class SummaryKitError(Exception):
    """Base of all errors of this package."""


class RefusedValueError(SummaryKitError, ValueError):
    """A value that cannot be recorded; the message says why. It costs that value and nothing else."""


class StorageError(SummaryKitError, OSError):
    """Writing failed: carries ``errno`` and ``filename`` of the operating system's error."""


class ClosedError(SummaryKitError, ValueError):
    """The record was closed before this call."""


class RemotePathError(SummaryKitError, ValueError):
    """A URL where a local path is needed; the message says what to do instead."""


class MissingExtraError(SummaryKitError, ImportError):
    """An optional package is absent; the message holds the command that installs it."""
