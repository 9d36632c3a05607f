"""What PyTorch prints, logs and warns of while it looks at a model that it cannot trace: here one notice tells all that."""

from __future__ import annotations

import builtins
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_LOGGERS = ("torch._subclasses.fake_tensor", "torch.fx.experimental.symbolic_shapes", "torch.export._trace")
_PRINTING = ("torch.export._trace", "torch.fx.graph_module")
_WARNINGS = r"The tensor attributes? .* assigned during export"


@contextmanager
def quiet() -> Iterator[None]:
    """In this block, and this thread, these places of PyTorch say nothing; the model's own code says what it always does."""
    thread = threading.get_ident()

    def other(record: logging.LogRecord) -> bool:
        return record.thread != thread

    def printed(*values: Any, **options: Any) -> None:
        if threading.get_ident() != thread:
            builtins.print(*values, **options)

    with ExitStack() as stack, warnings.catch_warnings():
        warnings.filterwarnings("ignore", _WARNINGS)
        for name in _LOGGERS:
            log = logging.getLogger(name)
            log.addFilter(other)
            stack.callback(log.removeFilter, other)
        for place in [vars(sys.modules[name]) for name in _PRINTING if name in sys.modules]:
            place["print"] = printed
            stack.callback(place.pop, "print", None)
        yield
