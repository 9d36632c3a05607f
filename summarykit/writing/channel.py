"""Messages between the trainer and a worker: pickles over a socket, whole and in order, with descriptors of files where need be.

Nothing here waits: what the other side does not take stays in hand until `flush` is called again.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from socket import socket

_LENGTH = struct.Struct("<Q")
_READ_BYTES = 2**18
_ANCILLARY_BYTES = 256    # room for more descriptors than are ever sent at a time


class Channel:
    """One end of a stream socket that both sides trust."""

    def __init__(self, end: socket) -> None:
        """Take over a socket."""
        end.setblocking(False)
        self.socket = end
        self.descriptors: deque[int] = deque()
        self.ended = False
        self._out: deque[tuple[memoryview, list[int]]] = deque()
        self._in = bytearray()

    def send(self, message: Any, descriptors: tuple[int, ...] = ()) -> bool:
        """Send a message, with copies of descriptors; True where all is on its way.

        Raises:
            OSError: the other side is gone.
        """
        body = pickle.dumps(message, 5)
        self._out.append((memoryview(_LENGTH.pack(len(body)) + body), [os.dup(each) for each in descriptors]))
        return self.flush()

    def flush(self) -> bool:
        """Send what is in hand; True where nothing is left.

        Raises:
            OSError: the other side is gone.
        """
        with suppress(BlockingIOError, InterruptedError):
            while self._out:
                self._send_first()
        return not self._out

    @property
    def waiting(self) -> bool:
        """Whether something is in hand."""
        return bool(self._out)

    def receive(self) -> Iterator[Any]:
        """Give the messages that have come. Sets ``ended`` where no more can come."""
        self._read()
        while len(self._in) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._in)
            end = _LENGTH.size + length
            if len(self._in) < end:
                return
            body = bytes(memoryview(self._in)[_LENGTH.size : end])
            del self._in[:end]
            yield pickle.loads(body)

    def close(self) -> None:
        """Close the socket, and descriptors that were not sent, or not taken."""
        self.socket.close()
        while self._out:
            _close_all(self._out.popleft()[1])
        _close_all(self.descriptors)
        self.descriptors.clear()

    def _send_first(self) -> None:
        data, descriptors = self._out[0]
        if descriptors:
            from socket import send_fds

            sent = send_fds(self.socket, [data], descriptors)
        else:
            sent = self.socket.send(data)
        self._out.popleft()
        _close_all(descriptors)
        if sent < len(data):
            self._out.appendleft((data[sent:], []))

    def _read(self) -> None:
        try:
            while not self.ended:
                data, ancillary, _, _ = self.socket.recvmsg(_READ_BYTES, _ANCILLARY_BYTES)
                for _, _, content in ancillary:
                    self.descriptors.extend(memoryview(content).cast("i"))
                self._in += data
                self.ended = not data
        except (BlockingIOError, InterruptedError):
            return
        except ConnectionError:    # it ended without reading all that was sent to it
            self.ended = True


def _close_all(descriptors: Iterable[int]) -> None:
    for each in descriptors:
        os.close(each)
