"""``framework_raw_<d>.csv``: which task is which operator, with its inputs and outputs as JSON."""

from __future__ import annotations

import json
from typing import Any

from summarykit.profiler.intermediate.kernels import operators_of
from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.parsers.ascend.framework import subgraph
from summarykit.profiler.recording import Recording

_OLD = ("task_id", "stream_id", "block_dim", "full_op_name", "op_name", "op_type", "subgraph", "op_info")
_NEW = ("task_id", "stream_id", "block_dim", "full_kernel_name", "op_name", "kernel_name", "kernel_type", "subgraph", "op_info")


def write(recording: Recording, target: Target) -> None:
    """Write the file, where the recording knows operators by their tasks."""
    table = recording.tables.get("framework")
    new = target.dialect.kernel_words
    if table is not None:
        target.csv("framework_raw_{}.csv", _NEW if new else _OLD, [_row(row, new) for row in rows(table, *_OLD)])
    elif new and target.kind == "ascend":      # msprof tells runs only: without this file the page would not list them
        names = operators_of(recording)["name"].tolist()
        told = [(None, None, None, name, None, None, subgraph(name), None) for name in names]
        if told:
            target.csv("framework_raw_{}.csv", _NEW, [_row(row, new) for row in told])


def _row(row: tuple[Any, ...], new: bool) -> list[Any]:
    *task, full_name, name, kind, subgraph, info = row
    encoded = None if info is None else json.dumps(info)
    if not new:
        return [*task, full_name, name, kind, subgraph, encoded]
    last = full_name.rsplit("/", 1)[-1]
    return [*task, full_name, full_name, name or last, kind or last.split("-", 1)[0], subgraph, encoded]
