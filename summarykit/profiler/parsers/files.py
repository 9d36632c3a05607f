"""Opens what a parser reads: plain or gzip, by the first bytes and not by the name."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 18    # what is made of a larger piece does not fit a processor's cache: a third slower


def opened(path: Path) -> IO[bytes]:
    """A file to be read in binary, unpacked if need be.

    Raises:
        OSError: it cannot be opened.
    """
    with open(path, "rb") as file:
        packed = file.read(2) == _GZIP
    return gzip.GzipFile(path, "rb") if packed else open(path, "rb")    # type: ignore[return-value]  # both read bytes


def chunks(path: Path, skipped: Counter[str], size: int = _CHUNK) -> Iterator[bytes]:
    """What is in a file, piece by piece; where a packed file is damaged or cut, it ends there and that is counted in ``skipped``.

    Raises:
        OSError: it cannot be opened.
    """
    with opened(path) as file:
        while data := _read(file, size, skipped):
            yield data


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of a file, unpacked; empty where it is none or cannot be read: for ``sniff``."""
    if not path.is_file():
        return b""
    try:
        return next(chunks(path, Counter(), size), b"")
    except OSError:
        return b""


def _read(file: IO[bytes], size: int, skipped: Counter[str]) -> bytes:
    try:
        return file.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        skipped["cut within its gzip stream" if isinstance(error, EOFError) else "damaged gzip stream"] += 1
        return b""
