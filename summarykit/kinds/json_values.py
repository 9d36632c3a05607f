"""Settings of any type as what JSON can say."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy as np

from summarykit.kinds.flatten import members_of
from summarykit.kinds.hparams import plain

_DEEPEST = 32
_LONGEST = 2**18    # characters of a text
_MOST = 1000        # elements of a list or array


def json_value(value: Any, levels: int = _DEEPEST) -> Any:
    """Texts, numbers, bools, None, and lists and dicts of these.

    ===================================================================  ====================================================
    a value                                                              becomes
    ===================================================================  ====================================================
    None, bool, int, float, str, and NumPy's                             itself, exactly
    dict, dataclass, named tuple, namespace                              dict; names become text
    list, tuple, set, range, array, up to 1000 elements                  list
    tensor of one element                                                number
    path                                                                 text
    enum member                                                          its value
    class, function                                                      its qualified name
    anything else, and what is larger or deeper than 32 levels           its text, up to 4096 characters
    ===================================================================  ====================================================
    """
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, str) and not isinstance(value, Enum):
        return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
    if isinstance(value, (Enum, np.generic)):
        inner = value.value if isinstance(value, Enum) else value.item()
        return plain(value) if type(inner) is type(value) else json_value(inner, levels)
    members = members_of(value) if levels else None
    if members is not None:
        return {str(name): json_value(member, levels - 1) for name, member in members.items()}
    elements = _elements(value) if levels else None
    return plain(value) if elements is None else [json_value(element, levels - 1) for element in elements]


def _elements(value: Any) -> Iterable[Any] | None:
    """What a list or array consists of; None where it is none, or too long."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim and value.size <= _MOST else None
    return value if isinstance(value, (list, tuple, set, frozenset, range)) and len(value) <= _MOST else None
