"""verify, repair and convert; and many runs below one directory."""

from __future__ import annotations

import os

import numpy as np
import pytest
from testkit import building, records
from testkit.building import heavy, scalar

from summarykit.reading import Run, convert, repair, runs, verify
from summarykit.shapes import Blob, Histogram, Image, Point, Tensor

SESSION = "a" * 32
FORMS = ["mindspore", "tensorboard"]
POINTS = [scalar(tag, step, 0.1 * step) for step in range(300) for tag in ("loss", "acc")]
HEAVY = [
    heavy("histogram", "w", 7, Histogram(np.array([0.0, 1.0, 2.0]), np.array([3, 4]), 1, 2, 3, 0.0, 2.0, 5.5, 7.25)),
    heavy("image", "im", 7, Image(4, 6, 3, b"png")),
    heavy("tensor", "t", 9, Tensor(np.arange(6).reshape(2, 3), "int64")),
]


def harm(path, at: int = -40) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


def test_verify_a_sound_directory(tmp_path):
    building.twins(tmp_path / "run", POINTS, session=SESSION)
    told = []
    report = verify(tmp_path, progress=lambda *progress: told.append(progress))
    assert report.ok
    assert [file.format for file in report.files] == FORMS
    assert report.records == 600 * 2 + 3
    assert report.bytes == sum(file.stat().st_size for file in (tmp_path / "run").iterdir())
    assert told[-1][1] == told[-1][2] == report.files[-1].bytes


def test_cr2_verify_tells_where_a_file_is_torn(tmp_path):
    """20,000 events, the last 7 bytes cut."""
    path = building.file(tmp_path, "tensorboard", [scalar("loss", step, 1) for step in range(20_000)])
    data = path.read_bytes()
    path.write_bytes(data[:-7])
    (file,) = verify(path).files
    last = len(data) - len(records.frame(building.payloads("tensorboard", [scalar("loss", 19_999, 1)])[0]))
    assert (file.records, file.truncated, file.ok, list(file.damage)) == (20_000, last, False, [])
    assert len(Run(tmp_path).scalars("loss")) == 19_999


def test_cr3_verify_tells_where_a_file_is_damaged(tmp_path):
    """20,000 events, one byte in the middle flipped."""
    path = building.file(tmp_path, "tensorboard", [scalar("loss", step, 1) for step in range(20_000)])
    harm(path, path.stat().st_size // 2)
    report = verify(path)
    assert report.records == 20_000
    (lost,) = report.damage
    assert lost.records == 1
    assert lost.offset < path.stat().st_size // 2 < lost.end
    assert len(Run(tmp_path).scalars("loss")) == 19_999
    assert len(Run(tmp_path).damage) == 1


def test_verify_of_nothing(tmp_path):
    assert verify(tmp_path).files == []
    with pytest.raises(FileNotFoundError, match="no such file"):
        verify(tmp_path / "x")


def test_repair_keeps_every_sound_record_and_no_other_byte(tmp_path):
    for name in ("a", "b/c"):
        first, second = building.twins(tmp_path / "in" / name, POINTS, session=SESSION)
        harm(first)
        second.write_bytes(second.read_bytes()[:-5])
    before = {path: path.read_bytes() for path in (tmp_path / "in").rglob("*") if path.is_file()}
    report = repair(tmp_path / "in", tmp_path / "out")
    assert not report.ok
    copies = [str(path.relative_to(tmp_path / "out")) for path in report.written]
    assert copies == [str(file.path.relative_to(tmp_path / "in")) for file in report.files]
    assert sorted(records.check_directory(tmp_path / "out")) == sorted(copies)
    assert verify(tmp_path / "out").records == report.records == 2 * (600 + 601)
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.parametrize("out", [".", "below", "below/it"])
def test_repair_refuses_to_write_among_the_originals(tmp_path, out):
    path = building.file(tmp_path / "run", "mindspore", POINTS)
    for source in (tmp_path / "run", path):
        with pytest.raises(ValueError, match="inside"):
            repair(source, tmp_path / "run" / out)
    assert os.listdir(tmp_path / "run") == [path.name]


def test_repair_overwrites_nothing(tmp_path):
    path = building.file(tmp_path / "run", "mindspore", POINTS)
    repair(path, tmp_path / "out")
    with pytest.raises(FileExistsError):
        repair(path, tmp_path / "out")


@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize("target", FORMS)
def test_convert_keeps_every_point(tmp_path, source, target):
    for name in ("a", "b"):
        building.file(tmp_path / "in" / name, source, POINTS + HEAVY, session=SESSION)
    report = convert(tmp_path / "in", tmp_path / "out", target)
    assert (len(report.written), dict(report.left_out)) == (2, {})
    records.check_directory(tmp_path / "out")
    for name in ("a", "b"):
        old, new = Run(tmp_path / "in" / name), Run(tmp_path / "out" / name)
        assert [file.format for file in new.files] == [target]
        assert old.to_pandas().equals(new.to_pandas())
        for kind, tag in (("histogram", "w"), ("image", "im"), ("tensor", "t")):
            one, other = old.points(kind, tag)[0].value, new.points(kind, tag)[0].value
            if kind == "histogram" and "mindspore" != target == "tensorboard":
                assert (one.nan, one.sum, one.edges.tolist()) == (other.nan, other.sum, other.edges.tolist())
            assert repr(one) == repr(other)


def test_convert_takes_what_counts_unless_told_otherwise(tmp_path):
    building.file(tmp_path / "in", "tensorboard", [scalar("loss", 1, 1), scalar("loss", 1, 2)])
    convert(tmp_path / "in", tmp_path / "out", "mindspore")
    convert(tmp_path / "in", tmp_path / "raw", "mindspore", raw=True)
    assert Run(tmp_path / "out", raw=True).scalars("loss").value.tolist() == [2]
    assert Run(tmp_path / "raw", raw=True).scalars("loss").value.tolist() == [1, 2]


def test_convert_counts_what_a_format_has_no_place_for(tmp_path):
    building.file(tmp_path / "in", "mindspore", [Point("text", "note", 1, 1.0, Blob("text", b"words")), scalar("loss", 1, 1)])
    report = convert(tmp_path / "in", tmp_path / "out", "tensorboard")
    found = Run(tmp_path / "out").tags()
    assert found.get("text") == ["note"] or report.left_out == {"text": 1}
    assert found["scalar"] == ["loss"]


def test_convert_refuses_a_format_it_does_not_know(tmp_path):
    with pytest.raises(ValueError, match="allowed: mindspore, tensorboard"):
        convert(tmp_path, tmp_path / "out", "csv")


def test_g14_many_runs(tmp_path):
    for number, name in enumerate(["", "a", "b/c", "a/rank_1"]):
        building.twins(tmp_path / name, [scalar("loss", step, number) for step in range(3)], session=SESSION)
    building.file(tmp_path / "other", "mindspore", [scalar("acc", 1, 5)])
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    found = runs(tmp_path)
    assert list(found) == [".", "a", "a/rank_1", "b/c", "other"]
    assert len(found["a"].scalars("loss")) == 3
    table = found.scalars("loss")
    assert list(table.columns) == ["run", "step", "wall_time", "value"]
    assert table.run.tolist() == [name for name in (".", "a", "a/rank_1", "b/c") for _ in range(3)]
    assert table.value.tolist() == [0] * 3 + [1] * 3 + [3] * 3 + [2] * 3
    assert table.to_pandas().pivot_table(index="step", columns="run", values="value").shape == (3, 4)
    assert found.tags() == {"scalar": ["acc", "loss"]}
    assert len(found.to_pandas()) == len(found.to_polars()) == 13
    with pytest.raises(KeyError, match="'acc', 'loss'"):
        found.scalars("nothing")


def test_runs_of_nothing(tmp_path):
    assert len(runs(tmp_path)) == 0
    assert runs(tmp_path).to_pandas().shape == (0, 6)
    with pytest.raises(FileNotFoundError, match="base_dir"):
        runs(tmp_path / "nothing")
