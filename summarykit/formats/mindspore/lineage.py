"""Lineage as MindSpore's ``LineageEvent``, and back. MindInsight shows it in its tables of runs.

Of a file MindInsight takes the last train lineage, the last evaluation and the last data set, and all that users defined. So a file is
brought up to date by appending: where more is known, a part is written again as a whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from summarykit.formats import wire
from summarykit.formats.mindspore import data_graph, lineage_fields, user_defined
from summarykit.formats.origin import Origin
from summarykit.formats.proto.messages import message
from summarykit.shapes import Lineage

EVENTS = {6: Lineage.TRAIN, 7: Lineage.EVALUATION, 9: Lineage.DATASET, 10: Lineage.CUSTOM, 1002: Lineage.RUN, 1003: Lineage.CODE}
"""Fields of an event, and what they hold."""

_NUMBERS = {part: number for number, part in EVENTS.items()}
_MESSAGES = {
    Lineage.TRAIN: "mindspore.irpb.TrainLineage",
    Lineage.EVALUATION: "mindspore.irpb.EvaluationLineage",
    Lineage.DATASET: "mindspore.irpb.DatasetGraph",
    Lineage.CUSTOM: "mindspore.irpb.UserDefinedInfo",
}
_VALUES = 1000    # of each message: all values, exact, as JSON
_METRIC = 2


def opening(origin: Origin, wall_time: float) -> bytes:
    """The event that a file begins with: MindInsight skips it."""
    return wire.double(1, wall_time) + wire.text(3, "MindSpore.Event:1") + origin.encode()


def encode(lineage: Lineage, step: int, wall_time: float) -> bytes:
    """One event."""
    exact = _json(lineage.values)
    content = _message(lineage) + wire.any_text(_VALUES, exact) if lineage.part in _MESSAGES else exact.encode("utf-8", "replace")
    return wire.double(1, wall_time) + wire.integer(2, step) + wire.data(_NUMBERS[lineage.part], content)


def _message(lineage: Lineage) -> bytes:
    """What MindInsight shows of a part."""
    values = lineage.values
    if lineage.part == Lineage.TRAIN:
        return lineage_fields.encode(lineage_fields.TRAIN, values)
    if lineage.part == Lineage.EVALUATION:
        return wire.any_text(_METRIC, _json(_finite(values.get("metric")))) + lineage_fields.encode(lineage_fields.EVALUATION, values)
    return data_graph.encode(values) if lineage.part == Lineage.DATASET else user_defined.encode({**values, **lineage.shown})


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


def _of_fields(part: str, found: Any) -> dict[str, Any]:
    """What somebody else wrote."""
    if part == Lineage.TRAIN:
        return lineage_fields.decode(lineage_fields.TRAIN, found)
    if part == Lineage.EVALUATION:
        return {"metric": _of_json(found.metric) or {}, **lineage_fields.decode(lineage_fields.EVALUATION, found)}
    return data_graph.decode(found) if part == Lineage.DATASET else user_defined.decode(found)


def _shown(values: Mapping[str, Any], found: Any) -> dict[str, Any]:
    """What users see beside what they told."""
    told = dict(user_defined.leaves(values))
    return {name: value for name, value in user_defined.decode(found).items() if name not in told}


def _finite(metric: Any) -> dict[str, Any]:
    """Numbers that are not finite as text: as numbers they would spoil the JSON that the page is sent."""
    if not isinstance(metric, Mapping):
        return {}
    return {name: str(value) if isinstance(value, float) and not math.isfinite(value) else value for name, value in metric.items()}


def _json(values: Any) -> str:
    return json.dumps(values, default=str)


def _of_json(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
