"""MindSpore's files of the dataset's pipeline: as it wrote them, old, odd and damaged."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import recordings

from summarykit.profiler.parsers import mindspore
from summarykit.profiler.parsers.mindspore import dataset

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["op_id", "op_type", "children", "metrics", "output_queue", "size", "length", "op_info", "device_info", "time_stamp"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


def tables(tmp_path, **files):
    for name, content in files.items():
        (tmp_path / name.replace("__", ".")).write_text(content if isinstance(content, str) else json.dumps(content))
    skipped: Counter[str] = Counter()
    return dataset.tables(tmp_path, 0, skipped), +skipped


def stage(number, children=None, sizes=(1, 2), kind="MapOp"):
    return {
        "op_id": number,
        "op_type": kind,
        "num_workers": 2,
        "children": children,
        "metrics": None if sizes is None else {"output_queue": {"size": list(sizes), "length": 8}},
    }


def test_stages_come_from_the_root_on(tmp_path):
    content = {"sampling_interval": 20, "op_info": [stage(3), stage(1, [3, 2]), stage(2), stage(0, [1], None, "BatchOp"), stage(9)]}
    told, skipped = tables(tmp_path, pipeline_profiling_0__json=content)
    pipeline = told["pipeline"]
    assert pipeline["op_id"].tolist() == [0, 1, 3, 2]
    assert pipeline["parent"].tolist() == [-1, 0, 1, 1]
    assert pipeline["sizes"].tolist() == [None, [1, 2], [1, 2], [1, 2]]
    assert pipeline["capacity"].tolist() == [0, 8, 8, 8]
    assert not skipped


def test_a_pipeline_in_a_circle_ends(tmp_path):
    told, _ = tables(tmp_path, pipeline_profiling_0__json={"op_info": [stage(0, [1]), stage(1, [0, 1])]})
    assert told["pipeline"]["op_id"].tolist() == [0, 1]


def test_queues_of_old_files_have_no_times(tmp_path):
    told, skipped = tables(tmp_path, dataset_iterator_profiling_0__txt="1 64 1 3\n0 0 1 2.5 10\n\nx y\n1 2 3\n")
    assert [column.tolist() for column in told["queue"].values()] == [[1, 0], [64, 0], [1, 1], [3, 2], [-1, 10]] or skipped
    told, skipped = tables(tmp_path, device_queue_profiling_0__txt="1 16 1 0 5\n")
    assert told["queue"]["extra"].tolist() == [16]  # the queue to the device counts where there is one


def test_use_is_of_the_time_between_two_stamps(tmp_path):
    content = {
        "time_stamp": [10, 20, 30],
        "cpu_processor_num": 4,
        "sampling_interval": 10,
        "device_info": {"user_utilization": [5, 6]},
        "process_info": {"sys_utilization": [1, 2, 3, 4]},
        "op_info": [{"op_id": 1, "metrics": {"user_utilization": [7, 8]}}, {"op_id": "x"}],
    }
    told, _ = tables(tmp_path, minddata_cpu_utilization_0__json=content)
    table = told["processors"]
    found = {}
    for owner, number, counter, time, value in zip(*(table[name] for name in ("owner", "op_id", "counter", "time", "value")), strict=True):
        found.setdefault((owner, number, counter), []).append((time, value))
    assert found["device", -1, "user_utilization"] == [(20, 5), (30, 6)]
    assert found["process", -1, "sys_utilization"] == [(10, 1), (20, 2), (30, 3), (-1, 4)]
    assert found["op", 1, "user_utilization"] == [(20, 7), (30, 8)]
    assert found["file", -1, "cpu_processor_num"] == [(-1, 4)]


@given(values)
def test_any_json_does_no_harm(tmp_path_factory, value):
    folder = tmp_path_factory.mktemp("any")
    for name in ("pipeline_profiling_0.json", "minddata_cpu_utilization_0.json"):
        (folder / name).write_text(json.dumps(value))
    recordings.expect_tables(dataset.tables(folder, 0, Counter()))


@given(st.text(alphabet="01 -.9e\nx", max_size=80))
def test_any_lines_do_no_harm(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("any")
    (folder / "device_queue_profiling_0.txt").write_text(text)
    recordings.expect_tables(dataset.tables(folder, 0, Counter()))


@pytest.mark.shared
def test_a_real_run_that_waits_for_its_data(shared):
    (recording,) = mindspore.parse(shared / "data/profiler/minddata_ms2.10")
    assert recording.tables["pipeline"]["op_type"].tolist() == ["BatchOp", "MapOp", "GeneratorOp"]
    queue = recording.tables["queue"]
    assert queue.rows == 64
    assert queue["value"][queue["type"] == 1].tolist() == [0] * 15 + [1]
    assert not recording.skipped
