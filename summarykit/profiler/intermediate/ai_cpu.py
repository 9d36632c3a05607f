"""What ran on the AI CPU: ``aicpu_intermediate_<d>.csv``, and the same as a text table ``output_data_preprocess_aicpu_<d>.txt``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.recording import Recording

_TITLES = ("serial_number", "node_type_name", "total_time(ms)", "dispatch_time(ms)", "run_start", "run_end")
_OLD = ("serial_number", "op_type", "total_time", "dispatch_time", "run_start", "run_end")
_NEW = ("serial_number", "kernel_type", "total_time", "dispatch_time", "execution_time", "run_start", "run_end")
_TEXTS = 2                # the first columns stand left, numbers stand by their points


def write(recording: Recording, target: Target) -> None:
    """Write both files, where something ran there."""
    table = recording.tables.get("aicpu")
    if table is None:
        return
    body = [(number, *row) for number, row in enumerate(rows(table, "name", "total", "dispatch", "start", "end"), start=1)]
    if target.dialect.kernel_words:
        timed = [(number, name, total, dispatch, (end - start) / 1000, start, end) for number, name, total, dispatch, start, end in body]
        target.csv("aicpu_intermediate_{}.csv", _NEW, timed)
    else:
        target.csv("aicpu_intermediate_{}.csv", _OLD, body)
    total = ("AI CPU Total Time(ms):", f"{sum(table['total'].tolist()):.6f}", "", "", "", "")
    target.text("output_data_preprocess_aicpu_{}.txt", "\n".join(_table([*(tuple(map(str, row)) for row in body), total])) + "\n")


def _table(body: list[tuple[str, ...]]) -> Iterable[str]:
    columns = [_column(place, [row[place] for row in body]) for place in range(len(_TITLES))]
    return ("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def _column(place: int, cells: Sequence[str]) -> list[str]:
    """Title, line and cells, all of one width: that of the title and two more, or of what is wider."""
    if place >= _TEXTS:
        after = max(len(cell.partition(".")[2]) for cell in cells)
        cells = [cell + " " * (after - len(cell.partition(".")[2])) for cell in cells]
    width = max(len(_TITLES[place]) + 2, *map(len, cells))
    lines = [_TITLES[place], "-" * width, *cells]
    return [line.ljust(width) if place < _TEXTS else line.rjust(width) for line in lines]
