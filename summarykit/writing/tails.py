"""Cuts the torn tails that dead writers left: both viewers stumble over what follows one.

Only files of ours are touched, only where their writer is surely dead, and only behind their last whole record.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable

import numpy as np

from summarykit.formats import crc, framing, names, origin
from summarykit.notices import logger

_LAST_BYTES = 2**16


def cut_torn_tails(directory: str, file_names: Iterable[str]) -> None:
    """Cut every torn tail among the named files of a directory."""
    for name in file_names:
        if names.parse(name) is not None:
            try:
                _cut(os.path.join(directory, name))
            except OSError as error:
                logger.info("%s: its end could not be looked at (%s)", name, error)


def _cut(path: str) -> None:
    with open(path, "rb") as file:
        found = origin.first(file.read(origin.FIRST_BYTES))
        if found is None or not found.process.surely_dead():
            return
        size = os.fstat(file.fileno()).st_size
        end = size if _ends_whole(file.fileno(), size) else _last_whole_record(file.fileno(), size)
    if end is not None and end < size:
        os.truncate(path, end)
        logger.info("%s: cut %d bytes of a record that its writer did not live to finish", os.path.basename(path), size - end)


def _ends_whole(fd: int, size: int) -> bool:
    """Whether a whole record ends the file, told from its last bytes alone: no need to walk through a directory of old runs each time."""
    tail = os.pread(fd, _LAST_BYTES, max(0, size - _LAST_BYTES))
    payloads = np.arange(len(tail) - framing.HEADER - framing.FOOTER, -1, -1)    # their lengths, for records that begin at 0, 1, 2 ...
    lengths = np.ndarray(payloads.shape, "<u8", tail, strides=(1,))
    return any(_is_record(tail[place:]) for place in np.flatnonzero(lengths == payloads).tolist())


def _is_record(data: bytes) -> bool:
    length, payload = data[:8], data[framing.HEADER : -framing.FOOTER]
    return crc.masked(length) == data[8 : framing.HEADER] and crc.masked(payload) == data[-framing.FOOTER :]


def _last_whole_record(fd: int, size: int) -> int | None:
    """Where the last whole record ends; None where the file is damaged before its end, which is not for us to mend."""
    place = 0
    while size - place >= framing.HEADER:
        header = os.pread(fd, framing.HEADER, place)
        if crc.masked(header[:8]) != header[8:]:
            return None
        following = place + framing.HEADER + struct.unpack_from("<Q", header)[0] + framing.FOOTER
        if following > size:
            break
        place = following
    return place
