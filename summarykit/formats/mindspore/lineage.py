"""Lineage as MindSpore's ``LineageEvent``, and back. MindInsight shows it in its tables of runs.

Of a file MindInsight takes the last train lineage, the last evaluation and the last data set, and all that users defined. So a file is
brought up to date by appending: what is known more of is written again as a whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from summarykit.formats import wire
from summarykit.formats.mindspore import data_graph
from summarykit.formats.origin import Origin
from summarykit.formats.proto.messages import message
from summarykit.shapes import Lineage

VALUES = 1000    # of each message: all values, exact, as JSON

EVENTS = {6: Lineage.TRAIN, 7: Lineage.EVALUATION, 9: Lineage.DATASET, 10: Lineage.CUSTOM, 1002: Lineage.RUN, 1003: Lineage.CODE}
"""Fields of an event, and what they hold."""

_NUMBERS = {part: number for number, part in EVENTS.items()}
_MESSAGES = {
    Lineage.TRAIN: "mindspore.irpb.TrainLineage",
    Lineage.EVALUATION: "mindspore.irpb.EvaluationLineage",
    Lineage.DATASET: "mindspore.irpb.DatasetGraph",
    Lineage.CUSTOM: "mindspore.irpb.UserDefinedInfo",
}
_TEXT, _INT32, _INT64, _FLOAT, _CHECKPOINT = "text", "int32", "int64", "float", "checkpoint"


class _Place(NamedTuple):
    """Where a value stands: name and number of the message in the message (0: itself), name and number of its field there, and its type."""

    within: str
    message: int
    field: str
    number: int
    type: str


_TRAIN = {
    "optimizer": _Place("hyper_parameters", 1, "optimizer", 1, _TEXT),
    "learning_rate": _Place("hyper_parameters", 1, "learning_rate", 2, _FLOAT),
    "loss_function": _Place("hyper_parameters", 1, "loss_function", 3, _TEXT),
    "epoch": _Place("hyper_parameters", 1, "epoch", 4, _INT32),
    "parallel_mode": _Place("hyper_parameters", 1, "parallel_mode", 5, _TEXT),
    "device_num": _Place("hyper_parameters", 1, "device_num", 6, _INT32),
    "batch_size": _Place("hyper_parameters", 1, "batch_size", 8, _INT32),
    "train_dataset_path": _Place("train_dataset", 2, "train_dataset_path", 1, _TEXT),
    "train_dataset_size": _Place("train_dataset", 2, "train_dataset_size", 2, _INT32),
    "network": _Place("algorithm", 3, "network", 1, _TEXT),
    "loss": _Place("algorithm", 3, "loss", 2, _FLOAT),
    "model_path": _Place("model", 4, "path", 3, _CHECKPOINT),
    "model_size": _Place("model", 4, "size", 4, _INT64),
}
_EVALUATION = {
    "valid_dataset_path": _Place("valid_dataset", 3, "valid_dataset_path", 1, _TEXT),
    "valid_dataset_size": _Place("valid_dataset", 3, "valid_dataset_size", 2, _INT32),
}
_METRIC, _USER_INFO, _MAP_INT32, _MAP_STR, _MAP_DOUBLE = 2, 1, 3, 4, 5
_RANGES = {_INT32: 2**31, _INT64: 2**63}


def opening(origin: Origin, wall_time: float) -> bytes:
    """The event that a file begins with: MindInsight skips it."""
    return wire.double(1, wall_time) + wire.text(3, "MindSpore.Event:1") + origin.encode()


def encode(lineage: Lineage, step: int, wall_time: float) -> bytes:
    """One event."""
    exact = _json(lineage.values)
    content = _message(lineage) + wire.any_text(VALUES, exact) if lineage.part in _MESSAGES else exact.encode("utf-8", "replace")
    return wire.double(1, wall_time) + wire.integer(2, step) + wire.data(_NUMBERS[lineage.part], content)


def _message(lineage: Lineage) -> bytes:
    """What MindInsight shows of a part."""
    values = lineage.values
    if lineage.part == Lineage.TRAIN:
        return _fields(_TRAIN, values)
    if lineage.part == Lineage.EVALUATION:
        return wire.any_text(_METRIC, _json(_finite(values.get("metric")))) + _fields(_EVALUATION, values)
    return data_graph.encode(values) if lineage.part == Lineage.DATASET else _custom({**values, **lineage.shown})


def decode(part: str, content: bytes) -> Lineage:
    """What such a message holds, whoever wrote it.

    Raises:
        google.protobuf.message.DecodeError: it is no such message.
    """
    if part not in _MESSAGES:
        return Lineage(part, _of_json(content.decode("utf-8", "replace")) or {})
    found = message(_MESSAGES[part]).FromString(content)
    values = _of_json(found.values) if found.HasField("values") else None
    if values is None:
        return Lineage(part, _of_fields(part, found))
    return Lineage(part, values, _shown(values, found) if part == Lineage.CUSTOM else {})


def _shown(values: Mapping[str, Any], found: Any) -> dict[str, Any]:
    """What users see beside what they told."""
    told = dict(_leaves(values))
    return {name: value for name, value in _of_custom(found).items() if name not in told}


def _json(values: Any) -> str:
    return json.dumps(values, default=str)


def _of_json(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _finite(metric: Any) -> dict[str, Any]:
    """Numbers that are not finite as text: as numbers they would spoil the JSON that the page is sent."""
    if not isinstance(metric, Mapping):
        return {}
    return {name: str(value) if isinstance(value, float) and not math.isfinite(value) else value for name, value in metric.items()}


def _fields(places: Mapping[str, _Place], values: Mapping[str, Any]) -> bytes:
    """Those values that the message has fields for."""
    parts: dict[int, bytes] = {}
    for name, place in places.items():
        encoded = _scalar(place, values.get(name))
        if encoded:
            parts[place.message] = parts.get(place.message, b"") + encoded
    return b"".join(wire.data(number, content) for number, content in parts.items())


def _scalar(place: _Place, value: Any) -> bytes:
    """A field; nothing where the value does not fit its type: it is among the exact ones."""
    if place.type in (_TEXT, _CHECKPOINT):
        text = json.dumps({"ckpt": value}) if place.type == _CHECKPOINT else value
        return wire.any_text(place.number, text) if isinstance(value, str) else b""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return b""
    if place.type == _FLOAT:
        return wire.single(place.number, value)
    limit = _RANGES[place.type]
    return wire.integer(place.number, value) if isinstance(value, int) and -limit <= value < limit else b""


def _custom(values: Mapping[str, Any]) -> bytes:
    """One ``user_info`` for each name: of several in one MindInsight sees the first."""
    return b"".join(wire.data(_USER_INFO, _entry(name, value)) for name, value in _leaves(values))


def _leaves(values: Mapping[str, Any], path: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{path}{name}/")
        else:
            yield f"{path}{name}", value


def _entry(name: str, value: Any) -> bytes:
    key = wire.any_text(1, name)
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return wire.data(_MAP_INT32, key + wire.integer(2, value))
    if isinstance(value, float):
        return wire.data(_MAP_DOUBLE, key + wire.double(2, value))
    return wire.data(_MAP_STR, key + wire.any_text(2, value if isinstance(value, str) else str(value)))


def _of_fields(part: str, found: Any) -> dict[str, Any]:
    if part == Lineage.DATASET:
        return data_graph.decode(found)
    if part == Lineage.CUSTOM:
        return _of_custom(found)
    values = _of_places(_TRAIN if part == Lineage.TRAIN else _EVALUATION, found)
    return {"metric": _of_json(found.metric) or {}, **values} if part == Lineage.EVALUATION else values


def _of_places(places: Mapping[str, _Place], found: Any) -> dict[str, Any]:
    groups = {name: getattr(found, place.within) for name, place in places.items()}
    here = [(name, place) for name, place in places.items() if groups[name].HasField(place.field)]
    return {name: _of_field(place.type, getattr(groups[name], place.field)) for name, place in here}


def _of_field(kind: str, value: Any) -> Any:
    """A float32 in its own digits; a checkpoint's path as it stands, or in JSON."""
    if kind == _FLOAT:
        return float(str(np.float32(value)))
    found = _of_json(value) if kind == _CHECKPOINT else None
    return value if found is None else found.get("ckpt")


def _of_custom(found: Any) -> dict[str, Any]:
    values: dict[str, Any] = {**found.map_int32, **found.map_str, **found.map_double}
    values |= {name: _of_custom(inner) for name, inner in found.map_dict.items()}
    for info in found.user_info:
        values |= _of_custom(info)
    return values
