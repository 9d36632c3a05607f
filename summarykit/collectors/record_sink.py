"""The sink of a run: a record."""

from __future__ import annotations

from typing import Any

from summarykit.notices import Notices
from summarykit.summary.record import SummaryRecord


class RecordSink:
    """Puts values into the record; one that it refuses costs that value and nothing else."""

    def __init__(self, record: SummaryRecord, notices: Notices, strict: bool) -> None:
        """Make a sink; ``strict`` lets the record's errors through."""
        self._record, self._notices, self._strict = record, notices, strict

    def add(self, kind: str, tag: str, value: Any, **options: Any) -> None:
        """See ``Sink``."""
        try:
            self._record.add_value(kind, tag, value, **options)
        except (TypeError, ValueError) as error:
            if self._strict:
                raise
            self._notices.once(("refused", kind, tag), "%s %r is not recorded: %s", kind, tag, error)
