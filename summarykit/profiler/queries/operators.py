"""Which operators took the time, of every kind of device: MindInsight's ``ops/search``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from summarykit.profiler.queries.answer import Answer, Condition, Row, ask, shown
from summarykit.profiler.queries.source import Source

Reader = Callable[[Source, str], list[Row]]


@dataclass(frozen=True)
class Kind:
    """One kind of list.

    Attributes:
        columns: their names.
        read: gives all rows of a device; none where its file is absent.
        unsortable: columns without an order.
        misplaced: rows are sorted after a column in front of them was hidden, by the column that has taken the place of the one that was
            asked for: what MindInsight 2.3.1 does.
    """

    columns: tuple[str, ...]
    read: Reader
    unsortable: Sequence[str] = field(default=())
    misplaced: bool = False


def _csv(name: str, convert: Callable[[list[str]], Row]) -> Reader:
    def read(source: Source, device: str) -> list[Row]:
        """Rows of the device's file."""
        return source.rows(name.format(device), convert)

    return read


def _kernel_types(source: Source, device: str) -> list[Row]:
    """Old files hold percents that are already times 100, which their sum tells."""
    name = f"aicore_intermediate_{device}_type.csv"
    whole = sum(source.rows(name, lambda row: float(row[3])))
    return source.rows(name, lambda row: _kernel_type(row, 1 if whole > 2 else 100))


def _kernel_types_upstream(source: Source, device: str) -> list[Row]:
    """Times 100 always, as upstream."""
    return _csv("aicore_intermediate_{}_type.csv", lambda row: _kernel_type(row, 100))(source, device)


def _kernel_type(row: list[str], scale: int) -> Row:
    total, count = shown(float(row[1]) * 1e3), int(row[2])
    return [row[0], float(f"{float(total):.6f}"), count, shown(float(row[3]) * scale), shown(float(total) / count)]


def _kernels(source: Source, device: str) -> list[Row]:
    """Details joined with what the framework says and with floating-point operations, where these are known."""
    framework = _framework(source, device)
    flops = _flops(source, device)

    def convert(row: list[str]) -> Row:
        """A row as it is shown; nothing where the framework does not know the operator."""
        told = framework.get(row[0])
        return _kernel(row, told, flops.get(row[0])) if told else []

    return [row for row in source.rows(f"aicore_intermediate_{device}_detail.csv", convert) if row]


def _framework(source: Source, device: str) -> dict[str, list[str]]:
    return dict(source.rows(f"framework_raw_{device}.csv", lambda row: (row[3], row)))


def _kernel(row: list[str], told: list[str], flops: list[str] | None) -> Row:
    wide = len(told) > 8                # since 2.x there is a column for the kernel's name beside that of the operator
    op_name, kernel_name, kind, info = told[4:7] + told[8:9] if wide else [told[3], *told[4:6], told[7]]
    count = shown(int(row[2])) if len(row) > 2 else None
    rates: list[Any] = [shown(value) for value in (flops or ["-"] * 4)[:4]]
    return [op_name, kernel_name, kind, shown(float(row[1]) * 1e3), count, *rates, json.loads(info) if info else None]


def _flops(source: Source, device: str) -> dict[str, list[str]]:
    """Four of the numbers of each operator, as upstream takes them (the third is a utilisation, under a heading of operations)."""
    name = f"flops_{device}.txt"
    lines = [line.strip().split(",") for line in source.text(name).splitlines()[1:]] if name in source else []
    return {line[0]: line[1:] for line in lines if len(line) > 4 and line[1]}


def _ai_cpu_rows(source: Source, device: str) -> list[tuple[str, float, float]]:
    """Name, milliseconds in all and of dispatching."""
    return source.rows(f"aicpu_intermediate_{device}.csv", lambda row: (row[1], float(row[2]), float(row[3])))


def _ai_cpu_types(source: Source, device: str) -> list[Row]:
    times: dict[str, list[float]] = {}
    for name, total, _ in _ai_cpu_rows(source, device):
        times.setdefault(name.split("-")[0], []).append(total)
    totals = {kind: sum(each) * 1e3 for kind, each in times.items()}
    whole = sum(totals.values()) or 1
    return [[kind, round(total, 3), len(times[kind]), round(round(total, 3) / whole * 100, 2)] for kind, total in totals.items()]


def _ai_cpu(source: Source, device: str) -> list[Row]:
    found: dict[str, list[tuple[float, float]]] = {}
    for name, total, dispatch in _ai_cpu_rows(source, device):
        found.setdefault(name, []).append((float(shown(total)), float(shown(dispatch))))
    return [
        [name, name.split("-")[0], *(round(sum(column) / len(runs) * 1e3, 3) for column in zip(*runs, strict=True)), len(runs)]
        for name, runs in found.items()
    ]


def _old_types(row: list[str]) -> Row:
    return [row[0], float(f"{float(row[1]):.6f}"), int(row[2]), float(row[3])]


def _old_kernels(source: Source, device: str) -> list[Row]:
    framework = _framework(source, device)

    def convert(row: list[str]) -> Row:
        """A row as it is shown; nothing where the framework does not know the operator."""
        told = framework.get(row[0])
        return [told[4], told[5], float(row[1]), told[6], told[3], json.loads(told[7]) if told[7] else None] if told else []

    return [row for row in source.rows(f"aicore_intermediate_{device}_detail.csv", convert) if row]


_RATES = ("MFLOPs(10^6 cube)", "GFLOPS(10^9 cube)", "MFLOPs(10^6 vector)", "GFLOPS(10^9 vector)")
_TYPES = ("kernel_type", "total_time", "execution_frequency", "total_percent", "avg_time")
KINDS: dict[str, Kind] = {
    "aicore_type": Kind(_TYPES, _kernel_types),
    "aicore_detail": Kind(
        ("op_name", "kernel_name", "kernel_type", "avg_execution_time", "execution_frequency", *_RATES, "op_info"), _kernels, ("op_info",)
    ),
    "aicpu_type": Kind(("kernel_type", "total_time", "execution_frequency", "percent"), _ai_cpu_types),
    "aicpu_detail": Kind(("kernel_name", "kernel_type", "avg_execution_time", "dispatch_time", "execution_frequency"), _ai_cpu),
    "pynative_type": Kind(
        ("op_type", "execution_time", "execution_frequency", "percent"),
        _csv("pynative_op_intermediate_{}_type.csv", lambda row: [row[0], float(shown(row[1])) * 1e3, int(row[2]), shown(row[3])]),
    ),
    "pynative_detail": Kind(
        ("op_name", "op_type", "avg_execution_time", "subgraph", "full_op_name"),
        _csv("pynative_op_intermediate_{}_detail.csv", lambda row: [
            row[0], row[0].split("-")[0], float(shown(row[1])) * 1e3, "Default", f"Default/{row[0]}",
        ]),
    ),
    "gpu_op_type": Kind(
        ("op_type", "total_time", "execution_frequency", "total_percent", "avg_time"),
        _csv("gpu_op_type_info_{}.csv", lambda row: [row[0], shown(row[2]), int(row[1]), shown(float(row[3]) * 100), shown(row[4])]),
    ),
    "gpu_op_info": Kind(
        ("op_side", "op_type", "op_name", "op_full_name", "op_occurrences", "op_total_time", "op_avg_time", "proportion",
         "cuda_activity_cost_time", "cuda_activity_call_count"),
        _csv("gpu_op_detail_info_{}.csv", lambda row: [*row[:4], int(row[4]), *map(shown, row[5:9]), int(row[9])]),
    ),
    "gpu_cuda_activity": Kind(
        ("name", "type", "op_full_name", "stream_id", "block_dim", "grid_dim", "occurrences", "total_duration", "avg_duration",
         "max_duration", "min_duration"),
        _csv("gpu_activity_data_{}.csv", lambda row: [*row[:6], int(row[6]), *(shown(row[place]) for place in range(7, 11))]),
    ),
    "cpu_op_type": Kind(
        ("op_type", "type_occurrences", "execution_frequency", "total_compute_time", "avg_time", "total_time_proportion"),
        _csv("cpu_op_type_info_{}.csv", lambda row: [
            row[0], int(row[1]), int(row[2]), shown(float(row[3]) * 1e3), shown(float(row[4]) * 1e3), shown(float(row[5]) * 100),
        ]),
    ),
    "cpu_op_info": Kind(
        ("op_side", "op_type", "op_name", "full_op_name", "op_occurrences", "op_total_time", "op_avg_time", "total_time_proportion",
         "subgraph"),
        _csv("cpu_op_detail_info_{}.csv", lambda row: [
            *row[:4], int(row[4]), shown(float(row[5]) * 1e3), shown(float(row[6]) * 1e3), shown(row[7]), row[8],
        ]),
    ),
}
"""Lists of MindInsight 2, times in µs."""

OLD_KINDS: dict[str, Kind] = {
    "aicore_type": Kind(
        ("op_type", "execution_time (ms)", "execution_frequency", "percent"), _csv("aicore_intermediate_{}_type.csv", _old_types)
    ),
    "aicore_detail": Kind(
        ("op_name", "op_type", "avg_execution_time (ms)", "subgraph", "full_op_name", "op_info"), _old_kernels, ("op_info",)
    ),
}
"""Lists of MindInsight 0.5, times in ms."""

UPSTREAM_KINDS = {
    **KINDS, "aicore_type": Kind(_TYPES, _kernel_types_upstream), "aicore_detail": replace(KINDS["aicore_detail"], misplaced=True),
}
"""As MindInsight 2.3.1 shows them: percents of old files times 100 once more, and some lists in another order than was asked for."""


def operators(source: Source, kind: Kind, device: str, condition: Condition | None) -> Answer:
    """Answer a question for operators.

    Args:
        source: see there.
        kind: which list.
        device: the number in the files' names.
        condition: see ``answer.ask``; its filter may also hold ``is_display_detail`` and ``is_display_full_op_name``, which hide the last
            and the first column.

    Raises:
        ValueError: the condition is none.
    """
    rows = kind.read(source, device)
    if not kind.misplaced:
        return shortened(ask(kind.columns, rows, condition, unsortable=kind.unsortable), condition)
    told = condition or {}
    answer = shortened(ask(kind.columns, rows, {"filter_condition": told.get("filter_condition")}), condition)
    names = list(kind.columns[: len(answer.columns)])
    return replace(answer, rows=ask(names, answer.rows, {**told, "filter_condition": {}}, unsortable=kind.unsortable).rows)


def shortened(answer: Answer, condition: Condition | None) -> Answer:
    """Without the columns that the filter hides."""
    wanted = (condition or {}).get("filter_condition") or {}
    hidden = set()
    if not wanted.get("is_display_detail", True):
        hidden.add("op_info")
    if not wanted.get("is_display_full_op_name", True):
        hidden |= {answer.columns[0]} if answer.columns[0] == "op_name" and "kernel_name" in answer.columns else {"full_op_name"}
    places = [place for place, name in enumerate(answer.columns) if name not in hidden]
    return Answer([answer.columns[place] for place in places], [[row[place] for place in places] for row in answer.rows], answer.size)


def by_type(source: Source, kind: Kind, device: str, wanted: Condition | None, order: Sequence[str]) -> Answer:
    """Operators of these types, type after type, within each those that take longest first."""
    answer = ask(kind.columns, kind.read(source, device), {"filter_condition": wanted or {}})
    place, time = next(answer.columns.index(name) for name in ("kernel_type", "op_type") if name in answer.columns), _time(answer)
    slowest = sorted(answer.rows, key=lambda row: row[time], reverse=True)
    rows = [row for name in order for row in slowest if row[place] == name]
    return shortened(Answer(answer.columns, rows, len(rows)), {"filter_condition": wanted or {}})


def _time(answer: Answer) -> int:
    return next(place for place, name in enumerate(answer.columns) if name.startswith("avg_execution_time"))
