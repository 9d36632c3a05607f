"""What a worker's interpreter runs first, as a script: become independent of the trainer's terminal and folders, then import as it does.

Descriptor 3 is the socket to the trainer, 4 tells when the trainer ends, 5 is a little memory that both see. SIGINT, SIGTERM and the like
were blocked before this began.
"""

from __future__ import annotations

import mmap
import os
import socket
import struct
import sys
from contextlib import suppress

SOCKET, TRAINER, DESK = 3, 4, 5

DESK_BYTES = 8
"""On it stands the number of the task that the worker is at, plus one; 0 where it is at none."""


def main() -> None:
    """Set up, serve, end; without the interpreter's own clean-up, which has nothing to do here."""
    close_others()
    os.setsid()
    os.chdir("/")
    end = socket.socket(fileno=SOCKET)
    sys.path[:] = read_path(end)
    from summarykit.writing.channel import Channel
    from summarykit.writing.worker import Worker

    with suppress(ConnectionError):    # the trainer has dismissed this worker
        Worker(Channel(end), TRAINER, mmap.mmap(DESK, DESK_BYTES)).serve()
    os._exit(0)


def close_others() -> None:
    """Whatever else this process was born with: a pipe held open here would keep its reader waiting."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > DESK:
            with suppress(OSError):    # the listing's own is closed already
                os.close(int(name))


def read_path(end: socket.socket) -> list[str]:
    """The trainer's ``sys.path``: a length, then paths that are parted by NUL."""
    (length,) = struct.unpack("<I", _read(end, 4))
    return os.fsdecode(_read(end, length)).split("\0")


def _read(end: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        part = end.recv(length - len(data))
        if not part:
            os._exit(0)
        data += part
    return data


if __name__ == "__main__":
    main()
