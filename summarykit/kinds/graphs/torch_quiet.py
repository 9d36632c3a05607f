"""What PyTorch prints, logs and warns of while it looks at a model that it cannot trace: here one notice tells all that."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from typing import Any, TextIO

_LOGGERS = ("torch._subclasses.fake_tensor", "torch.fx.experimental.symbolic_shapes", "torch.export._trace")
_WARNINGS = r"The tensor attributes? .* assigned during export"


@contextmanager
def quiet() -> Iterator[None]:
    """In this block, and this thread, PyTorch says nothing of that; the model's own code says what it always does."""
    thread = threading.get_ident()

    def other(record: logging.LogRecord) -> bool:
        return record.thread != thread

    with ExitStack() as stack, warnings.catch_warnings():
        warnings.filterwarnings("ignore", _WARNINGS)
        for name in _LOGGERS:
            log = logging.getLogger(name)
            log.addFilter(other)
            stack.callback(log.removeFilter, other)
        if sys.stderr is not None:
            stack.enter_context(redirect_stderr(_Others(sys.stderr, thread)))
        yield


class _Others:
    """A stream as it is, but for what code of PyTorch prints into it in one thread."""

    def __init__(self, stream: TextIO, thread: int) -> None:
        self._stream, self._thread = stream, thread

    def write(self, text: str) -> int:
        """Write what others print."""
        printing = str(sys._getframe(1).f_globals.get("__name__"))
        if printing.startswith("torch.") and threading.get_ident() == self._thread:
            return len(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
