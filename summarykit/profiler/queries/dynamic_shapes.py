"""Operators of each step where shapes change from step to step: MindInsight's ``dynamic-shape-detail`` for GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from summarykit.profiler.parsers.rows import listed
from summarykit.profiler.queries.answer import Condition, ask
from summarykit.profiler.queries.source import Source

SHOWN = 3                 # types whose times are given where the filter does not name any
AVERAGE = 2               # place of the mean time in what is told of a type


@dataclass(frozen=True)
class Kind:
    """One kind of list: its columns, and where the file has its rows and their types."""

    columns: tuple[str, ...]
    rows: str
    types: str


KINDS = {
    "gpu_op_type_info": Kind(("step", "op_side", "op_type", "op_name", "duration", "op_shape"), "operator", "operator_type"),
    "gpu_cuda_type_info": Kind(
        ("step", "op_type", "op_name", "op_full_name", "duration", "block_dim", "grid_dim"), "kernel", "kernel_type"
    ),
}


def dynamic_shapes(source: Source, device: str, kind: Kind, condition: Condition | None = None) -> dict[str, Any]:
    """Answer a question.

    Args:
        source: see there.
        device: the number in the file's name.
        kind: which list.
        condition: see ``answer.ask``; its filter may also hold ``step_filter`` (a list with one step as text, ``["1"]`` where not said) and
            ``dispaly_op_type`` (as MindInsight spells it: the types whose times are given, at most three where not said).

    Returns:
        ``{col_name, object, size, all_type: types of that step, filter_type: type -> its mean time in each step}``.

    Raises:
        ValueError: the condition is none.
    """
    name = f"dynamic_shape_info_{device}.json"
    content = source.object(name) if name in source else {}
    wanted = dict((condition or {}).get("filter_condition") or {})
    step = str((wanted.pop("step_filter", None) or ["1"])[0])
    chosen = wanted.pop("dispaly_op_type", None)
    found = [list(row.values()) for row in listed(_mapping(content.get(kind.rows)), step) if isinstance(row, dict)]
    rows = [row for row in found if len(row) == len(kind.columns)]
    answer = ask(kind.columns, rows, {**(condition or {}), "filter_condition": wanted})
    steps = {number: _mapping(told) for number, told in _mapping(content.get(kind.types)).items()} if rows else {}
    types = list(steps.get(step, {}))
    return {**answer.to_dict(), "all_type": types, "filter_type": _times(steps, types[:SHOWN] if chosen is None else chosen)}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _times(steps: Mapping[str, Mapping[str, list[float]]], types: list[str]) -> dict[str, list[float]]:
    return {name: [_average(told.get(name)) for told in steps.values()] for name in types}


def _average(told: Any) -> float:
    return told[AVERAGE] if isinstance(told, list) and len(told) > AVERAGE else 0
