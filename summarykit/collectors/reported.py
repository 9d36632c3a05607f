"""Reported values: nested names made flat, numbers told from arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from summarykit.lazy import loaded

_DEEPEST = 32    # levels


def flatten(values: Mapping[Any, Any], prefix: str = "", above: tuple[Mapping[Any, Any], ...] = ()) -> Iterator[tuple[str, Any]]:
    """Give every value with its tag: ``{"loss": {"train": 1}}`` is ``("loss/train", 1)``. What holds itself, or is too deep, is a value."""
    above = (*above, values)
    for name, value in values.items():
        if isinstance(value, Mapping) and len(above) < _DEEPEST and not any(value is each for each in above):
            yield from flatten(value, f"{prefix}{name}/", above)
        else:
            yield f"{prefix}{name}", value


def is_array(value: Any) -> bool:
    """True for what holds more or less than one value: by its ``shape``, without reading it; and for lists and tuples."""
    if isinstance(value, (list, tuple)):
        return len(value) != 1
    try:
        return any(int(size) != 1 for size in getattr(value, "shape", ()))
    except (TypeError, ValueError):
        return False


def at_hand(value: Any) -> Any:
    """The number in a floating-point tensor of PyTorch that lies in host memory and has one element; anything else as it is.

    A float goes the short way to the record: the way of a tensor takes 50 µs where caches are cold, as they are once in ten steps.
    """
    if value.__class__ is not loaded("torch", "Tensor") or not _holds_a_number(value, sys.modules["torch"].strided):
        return value
    try:
        return value.item()
    except RuntimeError:    # of a transformation of functions: who records it says what is wrong
        return value


def _holds_a_number(tensor: Any, strided: Any) -> bool:
    return bool(tensor.is_cpu and tensor.layout is strided and tensor.dtype.is_floating_point and tensor.numel() == 1)


def values_of(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a step reported, by name; in a loop where nothing can be reported, the loss among the network's outputs."""
    reported = fields.get("reported")
    return loss_of(fields.get("net_outputs")) if reported is None else reported


def loss_of(outputs: Any) -> dict[str, Any]:
    """The loss among a network's outputs, by name: the first of a tuple or list, ``loss`` of a mapping; of several numbers the mean.

    Empty where there is none.
    """
    while isinstance(outputs, (list, tuple)) and outputs:
        outputs = outputs[0]
    if isinstance(outputs, Mapping):
        outputs = outputs.get("loss")
    if is_array(outputs):
        outputs = outputs.mean() if hasattr(outputs, "mean") else None
    return {} if outputs is None or isinstance(outputs, str) else {"loss": outputs}
