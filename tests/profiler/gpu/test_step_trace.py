"""MindSpore's steps on a GPU, in both layouts; no capture of either is public, so these files come from the layouts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import recordings

from summarykit.profiler.parsers import gpu_step_trace, read

BY_OPERATOR = (
    "Default/Conv-op1 10,12 110,112\nDefault/Grad-op2 20,22 120,122\n"
    "Default/Momentum-op3 30,35 130,135\nDefault/AllReduce-op4 24,26 124,126\n"
)
BY_STEP = (
    "Default/iter_start,100 Default/Conv-op1,110 Default/Grad-op2,200 Default/Momentum-op3,350 Default/AllReduce-op4,240,260\n"
    "Default/iter_start,350 Default/Conv-op1,1110 Default/Grad-op2,1200 Default/Momentum-op3,1350\n"
)


def rows(table):
    return [tuple(row) for row in zip(*(column.tolist() for column in table.values()), strict=True)]


@pytest.fixture
def told(tmp_path):
    def write(content):
        (tmp_path / "step_trace_profiling_2.txt").write_text(content)
        (recording,) = read(tmp_path)
        return recording

    return write


def test_a_line_an_operator(told):
    recording = told(BY_OPERATOR)
    assert recording.rank == 2
    assert rows(recording.tables["steps"]) == [(1, 100, 350, 100, 220), (2, 350, 1350, 1100, 1220)]
    assert rows(recording.tables["reduces"]) == [
        (1, 0, 0, 0, "Default/AllReduce-op4", 240, 260),
        (2, 0, 0, 0, "Default/AllReduce-op4", 1240, 1260),
    ]
    assert recording.meta["points"] == {1: "Default/Conv-op1", 2: "Default/Grad-op2"}


def test_a_line_a_step(told):
    recording = told(BY_STEP)
    assert rows(recording.tables["steps"]) == [(1, 100, 350, 110, 200), (2, 350, 1350, 1110, 1200)]
    assert rows(recording.tables["reduces"]) == [(1, 0, 0, 0, "Default/AllReduce-op4", 240, 260)]


def test_unfinished_steps_and_lines_that_are_none_are_counted(told):
    recording = told(BY_OPERATOR.replace(" 130,135", "") + "x y\n")
    assert recording.tables["steps"].rows == 1
    assert recording.skipped == {"lines of step_trace_profiling that cannot be read": 1, "runs of operators of unfinished steps": 3}
    assert told("Default/Conv-op1 10,12\n").skipped == {"files of steps without a start, an end of the backward pass and an end": 1}
    assert told("a,1 b,2\n").skipped == {"lines of step_trace_profiling that cannot be read": 1}
    assert told("").tables == {}


@given(st.text(alphabet="ab,0 1\n9", max_size=80))
def test_any_text_does_no_harm(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "step_trace_profiling_0.txt"
    path.write_text(text)
    recordings.expect_sound(gpu_step_trace.parse(path))
