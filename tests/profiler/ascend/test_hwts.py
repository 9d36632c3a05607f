"""The hardware's task log: records, lost ones, damaged ones, blocks, slices."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import ascend_files as raw

from summarykit.profiler.parsers import ascend
from summarykit.profiler.parsers.ascend import files, hwts, hwts_text

LOST = "hwts records lost by the device, at least"


def read(folder: Path, *slices: bytes, device: int = 0) -> tuple[list[hwts.Block], Counter[str]]:
    folder.mkdir(exist_ok=True)
    paths = [folder / raw.HWTS.format(device, number) for number in range(len(slices))]
    for path, content in zip(paths, slices, strict=True):
        path.write_bytes(content)
    skipped: Counter[str] = Counter()
    return list(hwts.read(paths, skipped)), +skipped


def test_fields_are_where_the_layout_says(tmp_path):
    (block,), skipped = read(tmp_path, raw.hwts_record(1, 7, 513, 2**40, 77_000, core=3, block=9))
    assert not skipped
    assert {name: getattr(block, name).tolist() for name in ("kind", "count", "core", "block", "task", "time", "stream")} == {
        "kind": [1],
        "count": [7],
        "core": [3],
        "block": [9],
        "task": [513],
        "time": [2**40],
        "stream": [77_000],
    }


def test_a_counter_that_overflowed_has_no_time(tmp_path):
    (block,), _ = read(tmp_path, raw.hwts_record(4, 0, 1, 500, 2) + raw.hwts_record(4, 1, 1, 500, 2, overflow=1))
    assert block.time.tolist() == [500, -1]
    assert block.stream.tolist() == [2, 2]


def test_lost_records_are_counted_over_blocks_and_slices(tmp_path, monkeypatch):
    monkeypatch.setattr(files.pieces, "__defaults__", (640,))
    records = [raw.hwts_record(0, count, 1, count, 1) for count in range(40)]
    kept = records[:9] + records[12:30] + records[31:]
    blocks, skipped = read(tmp_path, b"".join(kept[:15]), b"".join(kept[15:]))
    assert len(blocks) > 2
    assert skipped == {LOST: 4}
    assert sum(map(len, blocks)) == 36


def test_a_record_may_begin_in_one_slice_and_end_in_the_next(tmp_path):
    content = raw.hwts([(0, 1, 10, 1), (1, 1, 20, 1)])
    blocks, skipped = read(tmp_path, content[:70], content[70:])
    assert np.concatenate([block.time for block in blocks]).tolist() == [10, 20]
    assert not skipped


def test_what_is_cut_foreign_or_of_an_unknown_type_is_counted(tmp_path):
    good = raw.hwts([(0, 1, 10, 1), (1, 1, 20, 1)])
    damaged = bytearray(raw.hwts_record(0, 2, 1, 30, 1))
    damaged[2] ^= 0xFF
    (block,), skipped = read(tmp_path, good + bytes(damaged) + raw.hwts_record(7, 2, 1, 40, 1) + good[:13])
    assert len(block) == 2
    assert skipped == {"hwts records that are damaged": 1, "hwts records of an unknown type": 1, "cut hwts record at the end": 1}


def test_records_of_white_space_are_stepped_over(tmp_path):
    other = bytearray(raw.hwts_record(0, 2, 1, 30, 1))
    other[2:4] = b"\0\0"  # another version: no constant to go by
    blocks, _ = read(tmp_path, bytes(other) + b" " * 64 + b" \n" * 32 + bytes(other))
    assert sum(map(len, blocks)) == 2


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"garbage" * 100, bytes(range(256)) * 4])
def test_garbage_does_no_harm(tmp_path, content):
    blocks, _ = read(tmp_path, content)
    assert sum(map(len, blocks)) <= len(content) // 64


@given(st.binary(max_size=2000))
def test_any_bytes_do_no_harm(content):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, raw.HWTS.format(0, 0))
        path.write_bytes(content)
        (recording,) = ascend.parse(Path(folder))
        assert all(count > 0 for count in recording.skipped.values())
        assert (recording.spans.duration >= 0).all()


def test_a_packed_file_that_is_cut_gives_what_is_there(tmp_path):
    packed = gzip.compress(raw.hwts([(kind, 1, 10 * time + kind, 1) for time in range(5000) for kind in (0, 1)]), 0)
    path = tmp_path / (raw.HWTS.format(0, 0) + ".gz")
    path.write_bytes(packed[: len(packed) // 2])
    (recording,) = ascend.parse(path)
    assert (
        recording.skipped[f"{path.name} cannot be read to its end: Compressed file ended before the end-of-stream marker was reached"] == 1
    )


def test_text_below_and_above_the_number_from_which_tasks_are_unique(tmp_path):
    blocks, _ = read(tmp_path, raw.hwts([(0, 24_999, 5, 3), (1, 25_000, 6, 3)]))
    assert list(hwts_text.lines(blocks))[2:] == [
        "Start of task  0    0        0         3_24999  5               3\n",
        "End of task    1    0        0         25000    6               3\n",
    ]


@pytest.mark.shared
def test_text_of_a_real_capture_is_the_same_as_upstream(shared):
    job, reference = shared / "data/profiler/ascend/raw/JOB3", shared / "data/profiler/ascend/reference/JOB3"
    blocks = hwts.read(files.JobFiles(job).slices(1, "hwts"), Counter())
    assert (
        "".join(hwts_text.lines(blocks)) + "\n" == gzip.decompress((reference / "output_format_data_hwts_1.txt.gz").read_bytes()).decode()
    )
