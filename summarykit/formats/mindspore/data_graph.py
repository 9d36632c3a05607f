"""Data sets as MindSpore's ``DatasetGraph``, typed as its own collector does, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from summarykit.formats import wire

_CHILDREN, _PARAMETER, _OPERATIONS, _SAMPLER = 1, 2, 3, 4    # of a DatasetGraph
_STR, _STR_LIST, _BOOL, _INT, _DOUBLE = 1, 2, 3, 4, 5    # maps of an OperationParameter
_APART = ("children", "operations", "sampler")


def encode(values: Mapping[str, Any]) -> bytes:
    """The message: parameters of the last operation, and in ``children`` those that it takes from."""
    parts = [wire.data(_CHILDREN, encode(child)) for child in _mappings(values.get("children"))]
    parts.append(wire.data(_PARAMETER, _parameters(values, _APART)))
    parts += [wire.data(_OPERATIONS, _operation(each)) for each in _mappings(values.get("operations"))]
    sampler = values.get("sampler")
    return b"".join([*parts, *([wire.data(_SAMPLER, _operation(sampler))] if isinstance(sampler, Mapping) else [])])


def _mappings(found: Any) -> Iterable[Mapping[str, Any]]:
    return (each for each in found if isinstance(each, Mapping)) if isinstance(found, (list, tuple)) else ()


def _operation(values: Mapping[str, Any]) -> bytes:
    """An operation on samples, or a sampler: lists of whole numbers are its sizes, other lists its weights."""
    lists = [value for value in values.values() if isinstance(value, (list, tuple)) and _is_numbers(value)]
    sizes = [number for each in lists if _is_sizes(each) for number in each]
    weights = [number for each in lists if not _is_sizes(each) for number in each]
    rest = {name: value for name, value in values.items() if not any(value is each for each in lists)}
    numbers = [wire.integer(2, size) for size in sizes] + [wire.single(3, weight) for weight in weights]
    return b"".join([wire.data(1, _parameters(rest)), *numbers])


def _is_numbers(value: Iterable[Any]) -> bool:
    return all(isinstance(each, (int, float)) for each in value)


def _is_sizes(value: Iterable[Any]) -> bool:
    return all(isinstance(each, int) and -(2**31) <= each < 2**31 for each in value)


def _parameters(values: Mapping[str, Any], apart: Iterable[str] = ()) -> bytes:
    return b"".join(_parameter(wire.any_text(1, str(name)), value) for name, value in values.items() if name not in apart)


def _parameter(key: bytes, value: Any) -> bytes:
    if isinstance(value, bool):
        return wire.data(_BOOL, key + wire.integer(2, value))
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return wire.data(_INT, key + wire.integer(2, value))
    if isinstance(value, float):
        return wire.data(_DOUBLE, key + wire.double(2, value))
    if isinstance(value, (list, tuple)):
        texts = b"".join(wire.any_text(1, "" if each is None else json.dumps(each, default=str)) for each in value)
        return wire.data(_STR_LIST, key + wire.data(2, texts)) if value else b""
    text = json.dumps(value, default=str) if isinstance(value, Mapping) else str(value)
    return wire.data(_STR, key + wire.any_text(2, text))


def decode(found: Any) -> dict[str, Any]:
    """The same mapping from such a message."""
    values = _of_parameters(found.parameter)
    if found.operations:
        values["operations"] = [_of_operation(each) for each in found.operations]
    if found.HasField("sampler"):
        values["sampler"] = _of_operation(found.sampler)
    return {**values, "children": [decode(child) for child in found.children]}


def _of_operation(found: Any) -> dict[str, Any]:
    lists = {name: list(numbers) for name, numbers in (("size", found.size), ("weights", found.weights)) if numbers}
    return {**_of_parameters(found.operationParam), **lists}


def _of_parameters(found: Any) -> dict[str, Any]:
    values: dict[str, Any] = {name: None if text == "None" else text for name, text in found.mapStr.items()}
    values |= {**found.mapBool, **found.mapInt, **found.mapDouble}
    return values | {name: [_of_text(text) for text in each.strValue] for name, each in found.mapStrList.items()}


def _of_text(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
