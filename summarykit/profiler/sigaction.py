"""How the system answers a signal: with what Python's ``signal`` knows of, or with other code's handler, such as ``faulthandler``'s."""

from __future__ import annotations

import signal
import struct
import sys

_LONGEST = 512    # bytes; a struct sigaction has 152 in Linux' usual library
_HANDLER = struct.calcsize("P")    # it begins with the address of the handler (on MIPS not; there nothing is told apart)


class Action:
    """The action for a signal at this moment, as ``sigaction`` tells it, that it can be given back by.

    Source: https://pubs.opengroup.org/onlinepubs/9799919799/functions/sigaction.html
    """

    def __init__(self, number: signal.Signals) -> None:
        """Look it up; where the system does not tell it, it is like every other."""
        self._number = number
        self._record = _sigaction(number, None)

    @property
    def is_handled(self) -> bool:
        """Whether code handles it: it is neither ignored nor left to the system."""
        return int.from_bytes(self._record[:_HANDLER], sys.byteorder) > 1

    def is_handled_unlike(self, other: Action) -> bool:
        """Whether code handles it, and other code than in ``other``."""
        return self.is_handled and self._record[:_HANDLER] != other._record[:_HANDLER]

    def give_back(self) -> None:
        """Make it the action again."""
        _sigaction(self._number, self._record)


def _sigaction(number: signal.Signals, new: bytes | None) -> bytes:
    """The action so far; nothing where there is no such function."""
    try:
        import ctypes

        old = ctypes.create_string_buffer(_LONGEST)
        failed = ctypes.CDLL(None).sigaction(int(number), new, old)
    except (ImportError, OSError, TypeError, AttributeError):    # Windows; a Python without ctypes
        return b""
    return b"" if failed else old.raw
