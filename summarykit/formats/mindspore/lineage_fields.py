"""MindSpore's fields of a train lineage and of an evaluation, by the names that the values have here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from summarykit.formats import wire


class Place(NamedTuple):
    """Where a value stands: name and number of a message, name and number of its field, and its type."""

    message: str
    message_number: int
    field: str
    number: int
    type: str


_TEXT, _INT32, _INT64, _FLOAT, _CHECKPOINT = "text", "int32", "int64", "float", "checkpoint"
_RANGES = {_INT32: 2**31, _INT64: 2**63}

TRAIN = {
    "optimizer": Place("hyper_parameters", 1, "optimizer", 1, _TEXT),
    "learning_rate": Place("hyper_parameters", 1, "learning_rate", 2, _FLOAT),
    "loss_function": Place("hyper_parameters", 1, "loss_function", 3, _TEXT),
    "epoch": Place("hyper_parameters", 1, "epoch", 4, _INT32),
    "parallel_mode": Place("hyper_parameters", 1, "parallel_mode", 5, _TEXT),
    "device_num": Place("hyper_parameters", 1, "device_num", 6, _INT32),
    "batch_size": Place("hyper_parameters", 1, "batch_size", 8, _INT32),
    "train_dataset_path": Place("train_dataset", 2, "train_dataset_path", 1, _TEXT),
    "train_dataset_size": Place("train_dataset", 2, "train_dataset_size", 2, _INT32),
    "network": Place("algorithm", 3, "network", 1, _TEXT),
    "loss": Place("algorithm", 3, "loss", 2, _FLOAT),
    "model_path": Place("model", 4, "path", 3, _CHECKPOINT),
    "model_size": Place("model", 4, "size", 4, _INT64),
}
EVALUATION = {
    "valid_dataset_path": Place("valid_dataset", 3, "valid_dataset_path", 1, _TEXT),
    "valid_dataset_size": Place("valid_dataset", 3, "valid_dataset_size", 2, _INT32),
}


def encode(places: Mapping[str, Place], values: Mapping[str, Any]) -> bytes:
    """Those values that have a field, and fit its type."""
    parts: dict[int, bytes] = {}
    for name, place in places.items():
        encoded = _field(place, values.get(name))
        if encoded:
            parts[place.message_number] = parts.get(place.message_number, b"") + encoded
    return b"".join(wire.data(number, content) for number, content in parts.items())


def _field(place: Place, value: Any) -> bytes:
    if place.type in (_TEXT, _CHECKPOINT):
        text = json.dumps({"ckpt": value}) if place.type == _CHECKPOINT else value
        return wire.any_text(place.number, text) if isinstance(value, str) else b""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return b""
    if place.type == _FLOAT:
        return wire.single(place.number, value)
    limit = _RANGES[place.type]
    return wire.integer(place.number, value) if isinstance(value, int) and -limit <= value < limit else b""


def decode(places: Mapping[str, Place], found: Any) -> dict[str, Any]:
    """The values that are in such a message."""
    messages = {name: getattr(found, place.message) for name, place in places.items()}
    present = [(name, place) for name, place in places.items() if messages[name].HasField(place.field)]
    return {name: _value(place.type, getattr(messages[name], place.field)) for name, place in present}


def _value(kind: str, value: Any) -> Any:
    """A float32 in its own digits; a checkpoint's path out of its JSON."""
    if kind == _FLOAT:
        return float(str(np.float32(value)))
    return _checkpoint(value) if kind == _CHECKPOINT else value


def _checkpoint(text: str) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found.get("ckpt") if isinstance(found, dict) else text
