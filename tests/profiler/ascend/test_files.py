"""Which files of a job are read: places, slices, marks, devices."""

from __future__ import annotations

import pytest
from testkit import ascend_files as raw

from summarykit.profiler.parsers import ascend, read
from summarykit.profiler.parsers.ascend.files import JobFiles, kind_of


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("hwts.log.data.45.dev.profiler_default_tag.1.slice_12", ("hwts", 1, 12)),
        ("hwts.data.45.dev.profiler_default_tag.1.slice_0.gz", ("hwts", 1, 0)),
        ("training_trace.46.dev.profiler_default_tag.10.slice_3", ("training_trace", 10, 3)),
        ("aicore.data.43.dev.profiler_default_tag.0.slice_1", ("aicore", 0, 1)),
        ("Framework.host.vm.task_desc_info.0.slice_0", ("task_desc", 0, 0)),
        ("Framework.host.vm.graph_desc_info.0.JOB2.slice_0", ("graph_desc", 0, 0)),
        ("Framework.host.point.1.slice_0", ("point", 1, 0)),
        ("Framework.task_desc_info.3.slice_7", ("task_desc_binary", 3, 7)),
        ("Framework.hash_dic.3.slice_0", ("hash_dic", 3, 0)),
        ("DATA_PREPROCESS.AICPU.2.slice_0", ("aicpu", 2, 0)),
        ("DATA_PREPROCESS.dev.AICPUMI.1.slice_0", ("aicpu_queue", 1, 0)),
        ("host_start.log.1", ("host_start", 1, 0)),
        ("memory_usage_4.pb", ("memory", 4, 0)),
        ("hwts.log.data.45.dev.profiler_default_tag.1.slice_0.done", None),
        ("Framework.host.vm.point.1.slice_0.v0.5", None),
        ("hwts.txt", None),
    ],
)
def test_what_a_name_says(name, what):
    assert kind_of(name) == what


def test_slices_come_by_their_numbers_and_the_first_place_counts(tmp_path):
    for number in (10, 9, 1):
        (tmp_path / raw.HWTS.format(0, number)).touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / raw.HWTS.format(0, 0)).touch()
    (tmp_path / "data" / raw.TRACE.format(2, 0)).touch()
    files = JobFiles(tmp_path)
    assert [path.name[-2:].strip("_") for path in files.slices(0, "hwts")] == ["1", "9", "10"]
    assert files.slices(2, "training_trace")[0].parent.name == "data"
    assert files.devices == [0, 2]
    assert files.slices(0, "aicore") == []


def test_a_container_s_framework_is_found_beside_a_job(tmp_path):
    place = tmp_path / "container/0/data"
    place.mkdir(parents=True)
    (place / "Framework.host.vm.task_desc_info.0.JOB2.slice_0").write_text("Default/Mul-op1 1 30000 0\n")
    assert not ascend.sniff(tmp_path)
    (tmp_path / raw.HWTS.format(0, 0)).write_bytes(raw.hwts([(0, 30_000, 5, 7), (1, 30_000, 9, 7)]))
    (recording,) = ascend.parse(tmp_path)
    assert recording.spans.names[recording.spans.name[0]] == "Default/Mul-op1"


def test_devices_of_one_folder_do_not_mix(tmp_path):
    for device in (0, 3):
        (tmp_path / raw.HWTS.format(device, 0)).write_bytes(raw.hwts([(0, 1, 10 * device, 1), (1, 1, 10 * device + 5, 1)]))
    found = read(tmp_path)
    assert [(recording.rank, recording.spans.start.tolist(), recording.spans.duration.tolist()) for recording in found] == [
        (0, [0], [50]),
        (3, [300], [50]),
    ]


def test_empty_files_are_an_empty_recording(tmp_path):
    for name in (raw.HWTS.format(0, 0), raw.TRACE.format(0, 0), "DATA_PREPROCESS.dev.AICPU.0.slice_0", "Framework.host.vm.point.0.slice_0"):
        (tmp_path / name).touch()
    (recording,) = ascend.parse(tmp_path)
    assert (len(recording.spans), recording.tables, recording.skipped) == (0, {}, {})


def test_other_folders_are_not_ours(tmp_path):
    assert not ascend.sniff(tmp_path)
    assert not ascend.sniff(tmp_path / "absent")
    (tmp_path / "trace.json").write_text("[]")
    assert not ascend.sniff(tmp_path)
    assert not ascend.sniff(tmp_path / "trace.json")
