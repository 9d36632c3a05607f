"""The origin of a file, from its first record: the same field in both formats."""

from __future__ import annotations

from typing import Any

from summarykit.clock import Process
from summarykit.formats.origin import Origin
from summarykit.formats.proto.messages import message


def origin(payload: bytes) -> Origin | None:
    """Who wrote the file that begins with this payload; None where others wrote it, or it is not readable."""
    from google.protobuf.message import DecodeError

    try:
        opening = message("summarykit.Opening").FromString(payload)
        return _from(opening.origin) if opening.HasField("origin") else None
    except (DecodeError, UnicodeDecodeError):
        return None


def _from(found: Any) -> Origin:
    process = Process(found.pid, found.process_start, found.boot, found.pid_namespace, found.host)
    resume = found.resume_step if found.HasField("resume_step") else None
    return Origin(found.session, found.segment, process, resume, found.rank, found.library)
