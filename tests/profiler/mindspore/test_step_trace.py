"""Steps that MindSpore's own analysis left: as it wrote them, without a backward pass, and damaged."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.parsers import read
from summarykit.profiler.parsers.mindspore.step_trace import steps

NAME = "step_trace_raw_0_detail_time.csv"


@pytest.mark.shared
def test_the_steps_are_those_of_the_raw_files(shared):
    data = shared / "data/profiler/ascend"
    written = next(one for one in read(data / "intermediate/profiler") if one.rank == 0).tables["steps"]
    raw = read(data / "raw/JOB1")[0].tables["steps"]
    assert written.rows == 20
    for name, column in written.items():
        assert column.tolist() == raw[name].tolist(), name


def test_without_a_backward_pass_there_is_no_end_of_it(tmp_path):
    (tmp_path / NAME).write_text("step_num,start_point,end_point,total,fp_point,fp\n1,10,90,80,20,70\n-,10,90,80,20,70\n")
    (recording,) = read(tmp_path)
    assert {name: column.tolist() for name, column in recording.tables["steps"].items()} == {
        "step": [1], "start": [100], "end": [900], "fp_start": [200], "bp_end": [-1],
    }  # fmt: skip


@given(text=st.text("0123456789,-\n\"\0x", max_size=60), header=st.booleans())
def test_damaged_rows_are_counted(tmp_path_factory, text, header):
    folder = tmp_path_factory.mktemp("steps")
    content = ("step_num,start_point,end_point,total,fp_point,bp_point\n" if header else "") + text
    (folder / NAME).write_text(content)
    skipped: Counter[str] = Counter()
    found = steps(folder, 0, skipped)
    assert found.rows <= text.count("\n") + 1 if header else not found.rows
