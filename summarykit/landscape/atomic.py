"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write(file: Path, parts: Iterable[Any]) -> int:
    """Write a file beside its place, then put it there: whoever looks finds the old one or the new one.

    Args:
        file: its place; what is there is replaced.
        parts: the content: bytes-like objects in order.

    Returns:
        The number of bytes.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as stream:
            size = sum(stream.write(part) for part in parts)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, file)
    except BaseException:
        with contextlib.suppress(OSError):    # it may not have come so far
            os.unlink(beside)
        raise
    return size
