"""How it comes back: scan -> columns -> run -> frames.

``Run`` reads one directory, ``runs`` all below a directory; ``verify``, ``repair`` and ``convert`` work on files. Nothing is
imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from summarykit.reading.run import Run

_WHERE = {"Run": "run"}

__all__ = ["Run"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
