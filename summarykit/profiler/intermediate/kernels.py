"""Operators of an Ascend device: ``aicore_intermediate_<d>_{type,detail}.csv``, ``output_op_compute_time_<d>.txt``."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

import numpy as np

from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.recording import Category, Recording, Table

_NONE = Table({name: np.zeros(0, object) for name in ("name", "type", "count", "total", "average", "compat_average", "stream")})


def write(recording: Recording, target: Target) -> None:
    """Write the files that the recording has data for."""
    if target.kind != "ascend":
        return
    operators = operators_of(recording)
    if operators.rows or "framework" in recording.tables:
        _details(operators, target)
        _types(operators, target)
    if operators.rows:
        _op_times(operators, target)
    if recording.meta.get("min_cycle") is not None:
        target.text("min_cycle_counter_{}.txt", str(float(recording.meta["min_cycle"])))


def operators_of(recording: Recording) -> Table:
    """Operators of the device: as the recording tells them, or from their runs (msprof)."""
    if "operators" in recording.tables or "framework" in recording.tables:
        return recording.tables.get("operators", _NONE)
    spans = recording.spans
    chosen = np.flatnonzero(spans.category == Category.KERNEL)
    numbers, place, count = np.unique(spans.name[chosen], return_inverse=True, return_counts=True)
    total = np.bincount(place, spans.duration[chosen] / 1e6, len(numbers))
    names = np.array([spans.names[number] for number in numbers], object)
    types = np.array([name.rsplit("/", 1)[-1].split("-", 1)[0] for name in names], object)
    average = total / np.maximum(count, 1)
    stream = np.zeros(len(numbers), np.int64)
    return Table(name=names, type=types, count=count, total=total, average=average, compat_average=average, stream=stream)


def _details(operators: Table, target: Target) -> None:
    if target.dialect.kernel_words:
        header = ("full_kernel_name", "execution_time", "execution_frequency")
        target.csv("aicore_intermediate_{}_detail.csv", header, rows(operators, "name", "average", "count"))
    elif operators.rows:
        target.csv("aicore_intermediate_{}_detail.csv", ("full_op_name", "execution_time"), rows(operators, "name", "compat_average"))


def _types(operators: Table, target: Target) -> None:
    """Sums in decimal, as upstream adds them: what it writes is what it read as text."""
    column = "total" if target.dialect.fractions else "compat_average"
    times: dict[str, Decimal] = defaultdict(Decimal)
    counts: dict[str, int] = defaultdict(int)
    for kind, time, count in rows(operators, "type", column, "count"):
        times[kind] += Decimal(str(time))
        counts[kind] += count if target.dialect.fractions else 1
    whole = sum(times.values()) or Decimal(1)
    scale, digits = (1, 6) if target.dialect.fractions else (100, 2)
    words = ("kernel_type", "total_time") if target.dialect.kernel_words else ("op_type", "execution_time")
    body = [(kind, time, counts[kind], round(time / whole * scale, digits)) for kind, time in times.items()]
    target.csv("aicore_intermediate_{}_type.csv", (*words, "execution_frequency", "percent"), body)


def _op_times(operators: Table, target: Target) -> None:
    title = "=" * 20 + "op compute time" + "=" * 20
    lines = [title, "op_name       compute_time(ms) stream_id", "------------  ---------------  ---------"]
    lines += [f"{name} {time}  {stream}" for name, time, stream in rows(operators, "name", "compat_average", "stream")]
    lines.append(f"total op  {sum(operators['compat_average'].tolist())} 0")
    target.text("output_op_compute_time_{}.txt", "\n".join(lines))
