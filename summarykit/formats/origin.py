"""Who wrote a file: carried by its first record, in a field that viewers skip."""

from __future__ import annotations

from dataclasses import dataclass

from summarykit.clock import Process
from summarykit.formats import wire

FIELD = 1000
"""Number of the field in ``Event``."""


@dataclass(frozen=True)
class Origin:
    """The writer of a file, and the file's place among those of that writer.

    Attributes:
        session: 32 hexadecimal digits, one per writer: rotated files of one writer share it.
        segment: 0 for its first file, then counting.
        process: the process that writes.
        resume_step: the first step to be recorded, where the writer continues an earlier one.
        rank: rank in a distributed run.
        library: name and version of what wrote it.
    """

    session: str
    segment: int
    process: Process
    resume_step: int | None = None
    rank: int = 0
    library: str = ""

    def encode(self) -> bytes:
        """The field, serialised."""
        process = self.process
        parts = [
            wire.text(1, self.session),
            wire.integer(2, self.segment),
            wire.integer(3, process.pid),
            wire.integer(4, process.start),
            wire.text(5, process.boot),
            wire.integer(6, process.pid_namespace),
            b"" if self.resume_step is None else wire.integer(7, self.resume_step),
            wire.text(8, process.host),
            wire.integer(9, self.rank),
            wire.text(10, self.library),
        ]
        return wire.data(FIELD, b"".join(parts))


def decode(payload: bytes) -> Origin | None:
    """The origin in a file's first payload; None where somebody else wrote it."""
    try:
        found = dict(wire.fields(dict(wire.fields(payload))[FIELD]))
        session, boot, host, library = (str(found.get(number, b""), "utf-8") for number in (1, 5, 8, 10))
        segment, pid, start, namespace, rank = (wire.signed(found.get(number, 0)) for number in (2, 3, 4, 6, 9))
        resume = wire.signed(found[7]) if 7 in found else None
    except (KeyError, TypeError, ValueError):
        return None
    return Origin(session, segment, Process(pid, start, boot, namespace, host), resume, rank, library)
