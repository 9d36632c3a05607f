"""``Framework.host[.vm].{task_desc_info,graph_desc_info,point}.<device>[.<id>].slice_<n>``: what MindSpore up to 1.5 says, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from summarykit.profiler.parsers.ascend.dtypes import engine_dtype, engine_format, graph_dtype
from summarykit.profiler.parsers.ascend.files import text
from summarykit.profiler.parsers.ascend.framework import Framework, Operator, Task
from summarykit.profiler.parsers.rows import each, int64

_HEAD = "op_name:"


def read(task_desc: list[Path], graph_desc: list[Path], point: list[Path], skipped: Counter[str]) -> Framework:
    """Read the three kinds of file of one device.

    Args:
        task_desc: slices with a task a line.
        graph_desc: slices with an operator a line; a line may be cut where a slice ends.
        point: slices with a point of the step a line.
        skipped: gets counts of lines that cannot be read.
    """
    tasks = each(_lines(task_desc, skipped), _task, skipped, "lines of task_desc_info")
    operators = each(_whole_lines(graph_desc, skipped), _reader_of(graph_desc), skipped, "lines of graph_desc_info")
    points = each(_lines(point, skipped), _point, skipped, "lines of point")
    return Framework(list(tasks), list(operators), dict(points))


def _lines(paths: list[Path], skipped: Counter[str]) -> Iterator[str]:
    for path in paths:
        yield from (line for line in text([path], skipped).split("\n") if line.strip())


def _whole_lines(paths: list[Path], skipped: Counter[str]) -> Iterator[str]:
    """Lines, where the first of a slice that is no beginning is the rest of the last one before."""
    last = ""
    for path in paths:
        for place, line in enumerate(_lines([path], skipped)):
            if place == 0 and not line.startswith(_HEAD):
                last += line
                continue
            if last:
                yield last
            last = line
    if last:
        yield last


def _task(line: str) -> Task:
    """``name block_dim task stream``; newer files have one more field in front."""
    name, block_dim, task, stream = line.split(" ")[-4:]
    return Task(name, int64(block_dim), int64(task), int64(stream))


def _point(line: str) -> tuple[int, str]:
    tag, name = line.split(" ", 1)
    return int64(tag), name.strip()


def _reader_of(paths: list[Path]) -> Callable[[str], Operator]:
    virtual_machine = not paths or ".vm." in paths[0].name
    return _operator if virtual_machine else _engine_operator


def _operator(line: str) -> Operator:
    return _read_operator(line, {"data_type": lambda value: graph_dtype(int(value))})


def _engine_operator(line: str) -> Operator:
    return _read_operator(line, {"data_type": lambda value: engine_dtype(int(value)), "format": lambda value: engine_format(int(value))})


def _read_operator(line: str, spelled: dict[str, Callable[[str], str]]) -> Operator:
    """Words ``key:value``; ``input_id`` and ``output_id`` begin what is said of one of them."""
    name, kind, info = "", "", dict[str, dict[str, str]]()
    current: dict[str, str] = {}
    for word in line.split():
        key, value = word.split(":", 1)
        if key == "op_name":
            name = value
        elif key == "op_type":
            kind = value
        elif key in ("input_id", "output_id"):
            current = info.setdefault(f"{key.split('_')[0]}_{value}", {})
        else:
            attribute = key.split("_", 1)[1] if "_" in key else key
            current[attribute] = spelled.get(attribute, _unquoted)(value)
    if not name:
        raise ValueError(f"no op_name in {line!r}")
    return Operator(name, kind, info)


def _unquoted(value: str) -> str:
    return value.strip('"')
