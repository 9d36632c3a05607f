"""``Framework.{task_desc_info,tensor_data_info,step_info,hash_dic}.<device>.slice_<n>``: what MindSpore 1.6 to 2.2 says, in records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from summarykit.profiler.parsers.ascend.binary import packed, table
from summarykit.profiler.parsers.ascend.dtypes import binary_dtype, engine_format
from summarykit.profiler.parsers.ascend.files import text
from summarykit.profiler.parsers.ascend.framework import Framework, Operator, Task
from summarykit.shapes import Array

INLINE = 1           # the first byte of a mixed field: text follows; 0: a hash follows that hash_dic resolves
TASK = packed(
    256, op_name=("V128", 8), op_type=("V64", 136), iteration=("<u8", 200), time=("<u8", 208), shape_type=("<u4", 216),
    block_dim=("<u4", 220), model=("<u4", 224), stream=("<u4", 228), task=("<u4", 232), thread=("<u4", 236),
)
STEP = packed(
    64, model=("<u4", 4), stream=("<u4", 8), task=("<u4", 12), time=("<u8", 16), iteration=("<u8", 24), thread=("<u4", 32), tag=("u1", 36),
)
TENSORS_A_RECORD = 5
TENSOR = packed(
    256, model=("<u4", 4), iteration=("<u8", 8), stream=("<u4", 16), task=("<u4", 20), count=("u1", 24), tensors=("(5,11)<u4", 28),
)


def read(task_desc: list[Path], tensor_data: list[Path], step_info: list[Path], hash_dic: list[Path], skipped: Counter[str]) -> Framework:
    """Read the four kinds of file of one device.

    Args:
        task_desc: slices of records of tasks.
        tensor_data: slices of records of their inputs and outputs, five a record.
        step_info: slices of records of the points of the step.
        hash_dic: slices with a line ``hash:name`` for each name that is too long for a record.
        skipped: gets counts of what cannot be read.
    """
    names = _hashes(hash_dic, skipped)
    rows = table(task_desc, TASK, skipped, "task_desc_info")
    infos = _tensors(table(tensor_data, TENSOR, skipped, "tensor_data_info"))
    tasks, operators = [], dict[str, Operator]()
    for row in rows:
        task = Task(_mixed(row["op_name"], names, skipped), int(row["block_dim"]), int(row["task"]), int(row["stream"]))
        tasks.append(task)
        operators[task.operator] = Operator(task.operator, _mixed(row["op_type"], names, skipped), infos.get((task.stream, task.task), {}))
    points = _points(table(step_info, STEP, skipped, "step_info"), tasks)
    return Framework(tasks, list(operators.values()), points, unique_from=1 << 40)


def _hashes(paths: list[Path], skipped: Counter[str]) -> dict[int, str]:
    names = {}
    for line in text(paths, skipped).splitlines():
        number, _, name = line.strip().partition(":")
        if number.isdecimal():
            names[int(number)] = name
        elif line.strip():
            skipped["lines of hash_dic that cannot be read"] += 1
    return names


def _mixed(raw: Any, names: dict[int, str], skipped: Counter[str]) -> str:
    """A text of a field that holds it, or a hash of it behind eight bytes."""
    content = bytes(raw)
    if content[0] == INLINE:
        return content[8:].split(b"\0", 1)[0].decode("utf-8", "replace")
    number = int.from_bytes(content[8:16], "little")
    if number not in names:
        skipped["names that hash_dic does not have"] += 1
    return names.get(number, str(number))


def _tensors(rows: Array) -> dict[tuple[int, int], dict[str, dict[str, str]]]:
    """Inputs and outputs of each (stream, task), numbered over all of its records."""
    found: dict[tuple[int, int], dict[str, dict[str, str]]] = {}
    iterations: dict[tuple[int, int], int] = {}
    for row in rows:
        key = int(row["stream"]), int(row["task"])
        if iterations.setdefault(key, int(row["iteration"])) != row["iteration"]:    # a task says the same in each iteration
            continue
        info = found.setdefault(key, {})
        for side, form, dtype, *shape in row["tensors"][: min(int(row["count"]), TENSORS_A_RECORD)].tolist():
            kind = "output" if side else "input"
            number = sum(name.startswith(kind) for name in info)
            info[f"{kind}_{number}"] = {
                "format": engine_format(form), "data_type": binary_dtype(dtype), "shape": ",".join(str(size) for size in shape if size),
            }
    return found


def _points(rows: Array, tasks: list[Task]) -> dict[int, str]:
    operators = {(each.stream, each.task): each.operator for each in tasks}
    points = {}
    for row in rows:
        name = operators.get((int(row["stream"]), int(row["task"])))
        if name is not None:
            points[int(row["tag"])] = name
    return points
