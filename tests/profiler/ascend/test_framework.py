"""What the framework says of operators, as text and in binary records."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import ascend_files as raw
from testkit import recordings

from summarykit.profiler.parsers import ascend
from summarykit.profiler.parsers.ascend import dtypes, framework_binary, framework_text
from summarykit.profiler.parsers.ascend.framework import Framework, Operator, Task, short, subgraph, type_of

GRAPH = (
    'op_name:Default/Mul-op1 op_type:Mul input_id:0 input_format:DefaultFormat input_data_type:40 input_shape:"2,3" output_id:0 '
    'output_format:NC1HWC0 output_data_type:39 output_shape:"2,3"\n'
)
INFO = {
    "input_0": {"format": "DefaultFormat", "data_type": "NUMBER_TYPE_FLOAT32", "shape": "2,3"},
    "output_0": {"format": "NC1HWC0", "data_type": "NUMBER_TYPE_FLOAT16", "shape": "2,3"},
}


def text(folder, skipped=None, vm="vm.", **content) -> Framework:
    paths = {}
    for kind, slices in content.items():
        paths[kind] = [folder / f"Framework.host.{vm}{kind}.0.slice_{number}" for number in range(len(slices))]
        for path, part in zip(paths[kind], slices, strict=True):
            path.write_text(part)
    kinds = ("task_desc_info", "graph_desc_info", "point")
    return framework_text.read(*(paths.get(kind, []) for kind in kinds), Counter() if skipped is None else skipped)


def test_a_line_that_a_slice_cuts_is_put_together(tmp_path):
    second = GRAPH.replace("Mul", "Add")
    framework = text(tmp_path, graph_desc_info=[GRAPH + second[:50], second[50:] + GRAPH.replace("Mul", "Sub")])
    assert [operator.name for operator in framework.operators] == ["Default/Mul-op1", "Default/Add-op1", "Default/Sub-op1"]
    assert all(dict(operator.info) == INFO for operator in framework.operators)


def test_newer_tasks_have_a_field_more(tmp_path):
    framework = text(tmp_path, task_desc_info=["Default/Mul-op1 32 51517 0\n7 Default/Add-op2 4 5 3\n"])
    assert framework.tasks == [Task("Default/Mul-op1", 32, 51517, 0), Task("Default/Add-op2", 4, 5, 3)]


def test_the_graph_engine_has_numbers_of_its_own(tmp_path):
    line = GRAPH.replace("data_type:40", "data_type:1").replace("data_type:39", "data_type:77").replace("DefaultFormat", "3")
    framework = text(tmp_path, vm="", graph_desc_info=[line.replace("NC1HWC0", "99")])
    info = framework.operators[0].info
    assert (info["input_0"]["data_type"], info["input_0"]["format"]) == ("FLOAT16", "NC1HWC0")
    assert (info["output_0"]["data_type"], info["output_0"]["format"]) == ("UNKNOWN", "99")


def test_lines_that_are_none_are_counted(tmp_path):
    skipped: Counter[str] = Counter()
    framework = text(
        tmp_path,
        skipped,
        task_desc_info=["a b c d\nDefault/Mul-op1 1 2\n\n"],
        point=["1 Default/Mul-op1\nx y\n"],
        graph_desc_info=["op_name:\n" + GRAPH],
    )
    assert framework.points == {1: "Default/Mul-op1"}
    assert len(framework.operators) == 1
    assert skipped == {
        "lines of task_desc_info that cannot be read": 2,
        "lines of point that cannot be read": 1,
        "lines of graph_desc_info that cannot be read": 1,
    }


def test_tasks_are_found_with_their_stream_below_25000_and_without_it_above():
    framework = Framework([Task("a", 1, 24_999, 1), Task("b", 1, 24_999, 2), Task("c", 1, 25_000, 3)])
    found = framework.find(np.array([1, 2, 3, 9, 1]), np.array([24_999, 24_999, 24_999, 25_000, 25_001]))
    assert found.tolist() == [0, 1, -1, 2, -1]
    assert Framework().find(np.array([1]), np.array([1])).tolist() == [-1]


def test_rows_of_the_graph_come_first_and_what_only_tasks_know_last():
    framework = Framework(
        [Task("Default/Left-op9", 1, 2, 3), Task("Gradients/x/Mul-op1", 4, 5, 6)],
        [Operator("Gradients/x/Mul-op1", "Mul", {}), Operator("Other/Add-op2", "Add", {})],
    )
    table = framework.table()
    assert [list(row) for row in zip(*table.values(), strict=True)] == [
        [5, 6, 4, "Gradients/x/Mul-op1", "Mul-op1", "Mul", "Gradients", {}],
        [None, None, None, "Other/Add-op2", "Add-op2", "Add", None, {}],
        [2, 3, 1, "Default/Left-op9", None, None, None, None],
    ]
    assert framework.types()["Default/Left-op9"] == "Left"


def test_names():
    assert short("Default/a/Conv2D-op1+Default/b/Relu-op2") == "Conv2D-op1+Relu-op2"
    assert (subgraph("Gradients/a"), subgraph("a/b")) == ("Gradients", None)
    assert type_of("Default/x/Mul-op29") == "Mul"
    assert Framework([Task("Default/InitDataSetQueue-op0", 1, 1, 1)]).skips_first_step


def test_dtypes_of_the_three_generations():
    assert [dtypes.graph_dtype(number) for number in (27, 37, 40, 41, 42)] == [
        "NUMBER_TYPE_BOOL",
        "NUMBER_TYPE_UINT64",
        "NUMBER_TYPE_FLOAT32",
        "NUMBER_TYPE_FLOAT64",
        "UNKNOWN",
    ]
    assert [dtypes.binary_dtype(number) for number in (30, 43, 45, 243, 46)] == [
        "NUMBER_TYPE_BOOL",
        "NUMBER_TYPE_FLOAT32",
        "NUMBER_TYPE_COMPLEX",
        "NUMBER_TYPE_FLOAT32",
        "UNKNOWN",
    ]
    assert [dtypes.engine_dtype(number) for number in (0, 5, 17, 26)] == ["FLOAT", "UNKNOWN", "COMPLEX128", "UNDEFINED"]


def binary(folder, **content: bytes) -> tuple[Framework, Counter[str]]:
    skipped: Counter[str] = Counter()
    paths = {}
    for kind in ("task_desc_info", "tensor_data_info", "step_info", "hash_dic"):
        paths[kind] = [folder / f"Framework.{kind}.0.slice_0"]
        paths[kind][0].write_bytes(content.get(kind, b""))
    return framework_binary.read(*paths.values(), skipped), +skipped


def test_binary_records_say_the_same(tmp_path):
    """The layout is known from MindSpore's source; no capture is public."""
    tasks = raw.task_desc(raw.mixed("Default/Mul-op1", 128), raw.mixed("Mul", 64), 3, 17, block_dim=8)
    tasks += raw.task_desc(raw.mixed("", 128, hashed=2**63 + 5), raw.mixed("", 64, hashed=9), 3, 18)
    tensors = raw.tensor_data(3, 17, [(0, 3, 43, [2, 3]), (0, 203, 242, [4]), (1, 2, 43, [2, 3])])
    tensors += raw.tensor_data(3, 17, [(0, 3, 43, [1])] * 5, iteration=2) + raw.tensor_data(3, 18, [(1, 0, 43, [])])
    framework, skipped = binary(
        tmp_path,
        task_desc_info=tasks,
        tensor_data_info=tensors,
        hash_dic=f"{2**63 + 5}:Gradients/Add-op2\n9:Add\nnonsense\n".encode(),
        step_info=raw.step_info(1, 3, 17) + raw.step_info(2, 3, 18) + raw.step_info(3, 9, 9),
    )
    assert framework.tasks == [Task("Default/Mul-op1", 8, 17, 3), Task("Gradients/Add-op2", 1, 18, 3)]
    assert [operator.type for operator in framework.operators] == ["Mul", "Add"]
    assert framework.operators[0].info == {
        "input_0": {"format": "NC1HWC0", "data_type": "NUMBER_TYPE_FLOAT32", "shape": "2,3"},
        "input_1": {"format": "NC1HWC0", "data_type": "NUMBER_TYPE_FLOAT16", "shape": "4"},
        "output_0": {"format": "ND", "data_type": "NUMBER_TYPE_FLOAT32", "shape": "2,3"},
    }
    assert framework.points == {1: "Default/Mul-op1", 2: "Gradients/Add-op2"}
    assert skipped == {"lines of hash_dic that cannot be read": 1}
    assert framework.find(np.array([3, 4]), np.array([18, 18])).tolist() == [1, -1]


def test_a_hash_without_a_name_is_counted(tmp_path):
    framework, skipped = binary(tmp_path, task_desc_info=raw.task_desc(raw.mixed("", 128, hashed=77), raw.mixed("x", 64), 1, 1))
    assert framework.tasks[0].operator == "77"
    assert skipped == {"names that hash_dic does not have": 1}


@pytest.mark.parametrize(
    "name",
    [
        "Framework.host.vm.task_desc_info.0.slice_0",
        "Framework.host.graph_desc_info.0.slice_0",
        "Framework.host.vm.point.0.slice_0",
        "Framework.task_desc_info.0.slice_0",
        "Framework.step_info.0.slice_0",
        "Framework.tensor_data_info.0.slice_0",
        "Framework.hash_dic.0.slice_0",
        "DATA_PREPROCESS.dev.AICPU.0.slice_0",
        "DATA_PREPROCESS.dev.TDT.0.slice_0",
        "DATA_PREPROCESS.dev.AICPUMI.0.slice_0",
        "training_trace.46.dev.profiler_default_tag.0.slice_0",
        "aicore.data.0.slice_0",
        "memory_usage_0.pb",
        "host_start.log.0",
    ],
)
def test_any_content_of_any_file_does_no_harm(name, tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    binary_marks = st.sampled_from(
        [b"", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\x03", b"\x5a\x5a", b"op_name:a op_type:", b"Node:a, Run start:9"]
    )

    @given(binary_marks, st.binary(max_size=700))
    def read(mark, content):
        (folder / name).write_bytes(mark + content)
        recordings.expect_sound(ascend.parse(folder))

    read()
