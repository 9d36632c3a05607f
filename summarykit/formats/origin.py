"""Who wrote a file: carried by its first record, in a field that viewers skip."""

from __future__ import annotations

import struct

from summarykit.clock import Process
from summarykit.formats import framing, wire
from summarykit.immutable import Immutable

FIELD = 1000
"""Number of the field in ``Event``."""

FIRST_BYTES = 4096
"""So many bytes of a file hold its first record, where that tells an origin."""


class Origin(Immutable):
    """The writer of a file, and the file's place among those of that writer.

    Attributes:
        session: 32 hexadecimal digits, one per writer: rotated files of one writer share it.
        segment: 0 for its first file, then counting.
        process: the process that writes.
        resume_step: the first step to be recorded, where the writer continues an earlier one.
        rank: rank in a distributed run.
        library: name and version of what wrote it.
        resumption: shared by the writers that continue an earlier run together ("" where none is continued): they do not hide each
            other's points, whichever of them tells the ``resume_step``.
    """

    session: str
    segment: int
    process: Process
    resume_step: int | None = None
    rank: int = 0
    library: str = ""
    resumption: str = ""

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
            wire.text(11, self.resumption) if self.resumption else b"",
        ]
        return wire.data(FIELD, b"".join(parts))


def decode(payload: bytes) -> Origin | None:
    """The origin in a file's first payload; None where somebody else wrote it."""
    try:
        found = dict(wire.fields(dict(wire.fields(payload))[FIELD]))
        session, boot, host, library, resumption = (str(found.get(number, b""), "utf-8") for number in (1, 5, 8, 10, 11))
        segment, pid, start, namespace, rank = (wire.signed(found.get(number, 0)) for number in (2, 3, 4, 6, 9))
        resume = wire.signed(found[7]) if 7 in found else None
    except (KeyError, TypeError, ValueError):
        return None
    return Origin(session, segment, Process(pid, start, boot, namespace, host), resume, rank, library, resumption)


def first(data: bytes) -> Origin | None:
    """The origin in a file's first bytes (``FIRST_BYTES`` of them, or all); None where somebody else wrote it, or they are torn."""
    if len(data) < framing.HEADER:
        return None
    (length,) = struct.unpack_from("<Q", data)
    return decode(data[framing.HEADER : framing.HEADER + length]) if framing.HEADER + length <= len(data) else None
