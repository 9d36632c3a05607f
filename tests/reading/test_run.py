"""One run read back: tags, series, parts of tensors, tables, and what restarts and late values mean."""

from __future__ import annotations

import os

import numpy as np
import pytest
from testkit import building
from testkit.building import heavy, scalar

from summarykit.formats import wire
from summarykit.reading import Run, RunLineage, runs
from summarykit.reading.source import Source
from summarykit.shapes import Histogram, Image, Point, Scalar, Tensor

FORMS = ["mindspore", "tensorboard"]
OLD, NEW = "a" * 32, "b" * 32


def histogram(low: float, high: float, counts: list[int]) -> Histogram:
    return Histogram(np.linspace(low, high, len(counts) + 1), np.array(counts), min=low, max=high)


def steps(run: Run, tag: str = "loss") -> list[int]:
    return run.scalars(tag).step.tolist()


def values(run: Run, tag: str = "loss") -> dict[int, float]:
    found = run.scalars(tag)
    return dict(zip(found.step.tolist(), found.value.tolist(), strict=True))


@pytest.fixture
def mixed(tmp_path):
    """A run with every kind, in both formats."""
    found = []
    for step in (1, 2, 3):
        found += [scalar("loss", step, 0.1 * step), scalar("acc", step, step)]
        found.append(heavy("histogram", "w", step, histogram(0, step, [step, 2 * step])))
        found.append(heavy("image", "im", step, Image(1, 2, 3, b"png%d" % step)))
        found.append(heavy("tensor", "t", step, Tensor(np.arange(24.0).reshape(2, 3, 4) * step, "float64")))
    building.twins(tmp_path, found, session=OLD)
    return tmp_path


def test_tags_by_kind(mixed):
    assert Run(mixed).tags() == {"scalar": ["acc", "loss"], "histogram": ["w"], "image": ["im"], "tensor": ["t"]}
    assert repr(Run(mixed)) == f"<Run {str(mixed)!r}>"


def test_series_are_sequences_of_points(mixed):
    run = Run(mixed)
    loss = run.scalars("loss")
    assert len(loss) == 3
    assert loss[-1] == Point("scalar", "loss", 3, 1003.0, Scalar(0.1 * 3))
    assert [point.step for point in loss[1:]] == [2, 3]
    assert loss.at(2).value.value == 0.2
    assert loss.wall_time.tolist() == [1001.0, 1002.0, 1003.0]
    assert [point.value.encoded for point in run.images("im")] == [b"png1", b"png2", b"png3"]
    assert run.histograms("w").at(2).value.counts.tolist() == [2, 4]
    assert run.points("tensor", "t")[0].value.dtype == "float64"
    assert "3 points" in repr(loss)


def test_an_unknown_tag_names_those_that_are_alike(mixed):
    with pytest.raises(KeyError, match="no scalar with tag 'los'; there are 'loss'"):
        Run(mixed).scalars("los")
    with pytest.raises(KeyError, match="this run holds no audio"):
        Run(mixed).points("audio", "x")
    with pytest.raises(KeyError, match="no step 7; nearest: 1, 2, 3"):
        Run(mixed).images("im").at(7)


def test_a_directory_must_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        Run(tmp_path / "nothing")
    assert Run(tmp_path).tags() == {}
    assert len(Run(tmp_path).table()) == 0


def test_refresh_reads_what_came(tmp_path):
    path = building.file(tmp_path, "tensorboard", [scalar("loss", 1, 1)])
    run = Run(tmp_path)
    assert steps(run) == [1]
    data = path.read_bytes()
    building.file(tmp_path, "tensorboard", [scalar("loss", 1, 1), scalar("loss", 2, 2)])
    assert path.read_bytes().startswith(data)
    assert steps(run) == [1]
    assert steps(run.refresh()) == [1, 2]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool", "float16"])
def test_g14_a_part_of_a_tensor(tmp_path, form, dtype):
    data = (np.arange(2 * 3 * 4).reshape(2, 3, 4) % 7).astype(dtype)
    run = Run(building.file(tmp_path, form, [heavy("tensor", "t", 5, Tensor(data, dtype))]).parent)
    stored = run.tensors("t").at(5)
    assert (stored.shape, stored.dtype, stored.recorded, len(stored)) == (data.shape, data.dtype, dtype, 2)
    np.testing.assert_array_equal(stored[0, 1:3, :], data[0, 1:3, :])
    np.testing.assert_array_equal(stored[..., ::2], data[..., ::2])
    np.testing.assert_array_equal(np.asarray(stored), data)
    assert dtype in repr(stored)


def test_g14_a_part_of_a_large_tensor_is_read_without_the_rest(tmp_path):
    data = np.arange(32 << 20, dtype="u1").reshape(32, 1 << 20)
    path = building.file(tmp_path, "tensorboard", [heavy("tensor", "t", 1, Tensor(data, "uint8"))])
    stored = Run(path.parent).tensors("t").at(1)
    with open("/proc/self/statm") as file:
        before = int(file.read().split()[1])
    np.testing.assert_array_equal(stored[17, 5:9], data[17, 5:9])
    with open("/proc/self/statm") as file:
        assert (int(file.read().split()[1]) - before) * os.sysconf("SC_PAGE_SIZE") < 4 << 20


def test_a_tensor_that_is_coded_is_decoded_whole(tmp_path):
    proto = wire.integer(1, 9) + wire.data(2, wire.data(2, wire.integer(1, 3))) + wire.data(10, b"\x01\x02\x03")
    event = wire.data(5, wire.data(1, wire.text(1, "t") + wire.data(8, proto)))
    run = Run(building.write(tmp_path / "tfevents.1", [event]))
    assert run.tensors("t").at(0)[1:].tolist() == [2, 3]
    text = wire.data(5, wire.data(1, wire.text(1, "t") + wire.data(8, wire.integer(1, 7) + wire.data(8, b"word"))))
    with pytest.raises(KeyError, match="no array"):
        Run(building.write(tmp_path / "other" / "tfevents.1", [text])).tensors("t").at(0)


def test_histograms_over_one_range(tmp_path):
    found = [heavy("histogram", "w", 1, histogram(0, 2, [4, 4])), heavy("histogram", "w", 2, histogram(1, 4, [9])),
             heavy("histogram", "w", 3, Histogram(np.empty(0), np.empty(0, np.int64), nan=3))]    # fmt: skip
    common = Run(building.file(tmp_path, "mindspore", found).parent).histograms("w").common(bins=4)
    assert common.edges.tolist() == [0, 1, 2, 3, 4]
    assert common.step.tolist() == [1, 2, 3]
    np.testing.assert_allclose(common.counts, [[4, 4, 0, 0], [0, 3, 3, 3], [0, 0, 0, 0]], atol=1e-9)


@pytest.mark.parametrize("shapes", [
    [Histogram(np.array([-1.7e308, -1.0, 1.7e308]), np.array([1, 2]), min=-1.7e308, max=1.7e308)],
    [histogram(3.0, 3.0, [5])],
    [histogram(-0.5, 0.5, [2]), histogram(1e-320, 2e-320, [4])],
])  # fmt: skip
def test_histograms_of_extreme_ranges_keep_their_counts(tmp_path, shapes):
    found = [heavy("histogram", "w", step, shape) for step, shape in enumerate(shapes)]
    common = Run(building.file(tmp_path, "tensorboard", found).parent).histograms("w").common(8)
    assert np.isfinite(common.edges).all()
    np.testing.assert_allclose(common.counts.sum(axis=1), [shape.count for shape in shapes])


def test_bins_must_be_positive(mixed):
    with pytest.raises(ValueError, match="bins must be at least 1, got 0"):
        Run(mixed).histograms("w").common(0)


def test_tables(mixed):
    run = Run(mixed)
    frame = run.to_pandas()
    assert list(frame.columns) == ["kind", "tag", "step", "wall_time", "value"]
    assert len(frame) == 15
    assert frame[frame.tag == "loss"].value.tolist() == [0.1, 0.2, 0.1 * 3]
    assert frame[frame.kind == "image"].value.isna().all()
    assert run.to_polars()["value"].null_count() == 9
    assert run.to_polars()["step"].to_list() == frame.step.tolist()
    assert run.table().step.dtype == np.int64


def test_arrow_tables(mixed):
    pytest.importorskip("pyarrow", exc_type=ImportError)
    table = Run(mixed).to_arrow()
    assert table.num_rows == 15
    assert table.column("value").null_count == 9
    empty = mixed / "empty"
    empty.mkdir()
    assert Run(empty).to_arrow().num_rows == 0
    assert Run(empty).to_arrow().schema.equals(table.schema)    # so that tables of several runs can be joined
    building.file(empty, "tensorboard", [scalar("loss", 1, float("nan"))])
    assert Run(empty).to_arrow().column("value").null_count == 0
    assert runs(mixed).to_arrow().column_names[:2] == ["run", "kind"]


def test_tables_of_an_empty_run(tmp_path):
    assert Run(tmp_path).to_pandas().shape == (0, 5)
    assert Run(tmp_path).to_polars().shape == (0, 5)


def test_va1_values_come_back_exactly(tmp_path):
    exact = [1234567.890123, 16777217.0, 1e39, 5e-324, -0.0, 2.0**53]
    building.twins(tmp_path, [scalar("v", step, value) for step, value in enumerate(exact)], session=OLD)
    assert Run(tmp_path).scalars("v").value.tolist() == exact


def test_va2_values_that_are_not_finite_come_back(tmp_path):
    found = [scalar("loss", step, value) for step, value in enumerate([float("nan"), float("inf"), float("-inf")] * 40)]
    value = Run(building.file(tmp_path, "tensorboard", found).parent).scalars("loss").value
    np.testing.assert_array_equal(value, [np.nan, np.inf, -np.inf] * 40)


def test_fl3_all_points_by_default_and_a_sample_that_keeps_the_extremes(tmp_path):
    rng = np.random.default_rng(0)
    series = rng.normal(size=20_000)
    series[[777, 13_131]] = 99, -99
    series[5] = np.nan
    run = Run(building.file(tmp_path, "tensorboard", [scalar("loss", step, value) for step, value in enumerate(series)]).parent)
    assert len(run.to_pandas()) == 20_000
    sample = run.scalars("loss").sample(100)
    assert len(sample) <= 100
    assert {0, 777, 13_131, 19_999} <= set(sample.step.tolist())
    assert len(run.scalars("loss").sample(30_000)) == 20_000
    with pytest.raises(ValueError, match="most must be at least 5"):
        run.scalars("loss").sample(4)


@pytest.mark.parametrize("form", [*FORMS, "both"])
def test_rs1_a_resumed_run_replaces_what_it_records_anew(tmp_path, form):
    for stamp, session, resume, span in ((1700000000, OLD, None, range(150)), (1700000001, NEW, 100, range(100, 120))):
        found = [scalar("loss", step, stamp + step) for step in span]
        write = building.twins if form == "both" else lambda path, points, **more: building.file(path, form, points, **more)
        write(tmp_path, found, session=session, resume=resume, stamp=stamp)
    assert steps(Run(tmp_path)) == list(range(120))
    assert values(Run(tmp_path))[100] == 1700000001 + 100
    assert len(Run(tmp_path, raw=True).scalars("loss")) == 170


def test_rs1_a_resume_hides_the_steps_of_every_tag(tmp_path):
    building.file(tmp_path, "mindspore", [scalar("old", step, 0) for step in range(10)], session=OLD)
    building.file(tmp_path, "mindspore", [scalar("loss", 5, 0)], session=NEW, resume=5, stamp=1700000001)
    assert steps(Run(tmp_path), "old") == [0, 1, 2, 3, 4]


def test_rs1_torchs_purge_step(tmp_path):
    """Its file begins with a START of a session at that step; the older file has none."""
    building.file(tmp_path, "tensorboard", [scalar("loss", step, 0) for step in range(150)])
    start = wire.double(1, 1.0) + wire.integer(2, 100) + wire.data(7, wire.integer(1, 1))
    later = building.payloads("tensorboard", [scalar("loss", step, 1) for step in range(100, 120)])
    building.write(tmp_path / "events.out.tfevents.1700000009.host.1.0", [*building.opening("tensorboard"), start, *later])
    assert steps(Run(tmp_path)) == list(range(120))
    assert len(Run(tmp_path, raw=True).scalars("loss")) == 170


def test_a_restart_within_a_file_hides_what_stands_before_it(tmp_path):
    def session(step: int) -> bytes:
        return wire.double(1, 1.0) + wire.integer(2, step) + wire.data(7, wire.integer(1, 1))

    early = building.payloads("tensorboard", [scalar("loss", step, 0) for step in range(10)])
    late = building.payloads("tensorboard", [scalar("loss", step, 1) for step in range(5, 7)])
    building.write(tmp_path / "events.out.tfevents.1.host", [*building.opening("tensorboard"), session(0), *early, session(5), *late])
    assert steps(Run(tmp_path)) == list(range(7))
    assert len(Run(tmp_path, raw=True).scalars("loss")) == 12


def test_rs3_a_restarted_rank_leaves_the_others_alone(tmp_path):
    for rank in range(4):
        building.file(tmp_path, "mindspore", [scalar("loss", step, rank) for step in range(100)], session=str(rank) * 32, rank=rank)
    again = [scalar("loss", step, 20) for step in range(50, 60)]
    building.file(tmp_path, "mindspore", again, session=NEW, rank=2, resume=50, stamp=1700000001)
    found = Run(tmp_path).scalars("loss")
    counts = {rank: int((found.value == rank).sum()) for rank in (0, 1, 2, 3, 20)}
    assert counts == {0: 100, 1: 100, 2: 50, 3: 100, 20: 10}
    assert (np.diff(found.step) >= 0).all()


def test_rs4_points_of_other_tags_purge_nothing(tmp_path):
    found = [scalar("train", step, step) for step in range(100)]
    found += [heavy("image", "sample", 0, Image(1, 1, 3, b"x")), scalar("val", 5, 1)]
    assert steps(Run(building.file(tmp_path, "tensorboard", found).parent), "train") == list(range(100))


def test_rs6_a_late_value_is_kept_and_sorted(tmp_path):
    found = [scalar("loss", step, step) for step in (1, 2, 4, 3, 5)]
    building.twins(tmp_path, found, session=OLD)
    assert steps(Run(tmp_path)) == [1, 2, 3, 4, 5]
    assert steps(Run(tmp_path, raw=True)) == [1, 2, 4, 3, 5]


def test_of_two_equal_steps_the_later_counts(tmp_path):
    found = [scalar("loss", 1, 1), scalar("loss", 2, 2), scalar("loss", 1, 3)]
    building.twins(tmp_path, found, session=OLD)
    assert values(Run(tmp_path)) == {1: 3, 2: 2}
    assert Run(tmp_path, raw=True).scalars("loss").value.tolist() == [1, 2, 3]


def test_two_live_writers_merge(tmp_path):
    building.twins(tmp_path, [scalar("loss", step, 0) for step in (1, 3, 5, 7)], session=OLD)
    building.twins(tmp_path, [scalar("loss", step, 1) for step in (2, 4, 6, 7)], session=NEW, stamp=1700000001)
    assert values(Run(tmp_path)) == {1: 0, 2: 1, 3: 0, 4: 1, 5: 0, 6: 1, 7: 1}


def test_rotated_files_are_one_segment(tmp_path):
    """The resume step of a writer hides nothing that the same writer recorded in an earlier file."""
    building.twins(tmp_path, [scalar("loss", step, 0) for step in range(8)], session=OLD)
    building.twins(tmp_path, [scalar("loss", step, 1) for step in range(5, 8)], session=NEW, resume=5, stamp=1700000001)
    building.twins(tmp_path, [scalar("loss", step, 1) for step in range(8, 10)], session=NEW, segment=1, resume=5, stamp=1700000002)
    assert values(Run(tmp_path)) == {**dict.fromkeys(range(5), 0), **dict.fromkeys(range(5, 10), 1)}


def test_lineage_and_unknown_files(tmp_path):
    building.file(tmp_path, "mindspore", [scalar("loss", 1, 1)])
    metric = wire.double(1, 2.0) + wire.data(7, wire.text(2, '{"accuracy": 0.5}'))
    building.write(tmp_path / "events.out.events.summary.1700000000.0.host_lineage", [metric])
    for name in ("notes.txt", "ms_output.pb", "x.summary.123_explain"):
        (tmp_path / name).write_bytes(b"anything")
    run = Run(tmp_path)
    assert run.tags() == {"scalar": ["loss"], "lineage": ["evaluation_lineage"]}
    assert run.lineage() == RunLineage(metrics={"accuracy": 0.5})
    assert [file.format for file in run.files] == ["mindspore", "lineage"]
    assert run.graph() == []
    assert run.landscapes() == []


def test_the_first_record_of_a_long_event_is_found_by_its_head(tmp_path):
    """A value longer than a block is indexed without being read into memory, its step standing behind it."""
    data = np.zeros(6 << 20, "u1")
    proto = wire.integer(1, 4) + wire.data(2, wire.data(2, wire.integer(1, data.size))) + wire.data(4, data.tobytes())
    event = wire.data(5, wire.data(1, wire.text(1, "t") + wire.data(8, proto))) + wire.integer(2, 9) + wire.double(1, 5.0)
    run = Run(building.write(tmp_path / "tfevents.1", [*building.opening("tensorboard"), event]))
    assert run.tensors("t").step.tolist() == [9]
    assert run.tensors("t").at(9)[-1] == 0
    assert run.files[0].records == 2


def test_a_deleted_file_keeps_what_was_read(tmp_path):
    path = building.file(tmp_path, "tensorboard", [scalar("loss", 1, 1), heavy("image", "im", 1, Image(1, 1, 3, b"x"))])
    run = Run(tmp_path)
    assert steps(run) == [1]
    path.unlink()
    assert steps(run.refresh()) == [1]
    with pytest.raises(FileNotFoundError):
        run.images("im")[0]


@pytest.mark.slow
def test_fl4_scalars_of_a_large_file(tmp_path, run_script):
    """150 MB of images with scalars between them: every checksum verified, the images not kept."""
    rng = np.random.default_rng(0)
    noise = rng.bytes(1 << 20)
    found = [heavy("image", "im", step, Image(64, 64, 3, noise)) for step in range(150)]
    scalars = [scalar(f"tag{number}", step, step) for step in range(2000) for number in range(10)]
    building.file(tmp_path, "tensorboard", [*scalars, *found])
    code = """
import re, sys, time
from summarykit import Run
begun = time.process_time()
assert len(Run(sys.argv[1]).scalars("tag9")) == 2000
print(time.process_time() - begun, re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""
    seconds, kilobytes = map(float, run_script(code, tmp_path).expect_success().stdout.split())
    assert kilobytes < 200 << 10
    assert seconds < 10    # a hang guard: 0.2 s where nothing else runs


def test_reading_loads_no_protobuf_before_it_is_used(run_script):
    code = """
import sys
import summarykit.reading
from summarykit.reading import Run, runs, verify, repair
assert not any(name.startswith("google.protobuf") for name in sys.modules)
"""
    run_script(code).expect_success()


def test_a_source_is_polled_piece_by_piece(tmp_path):
    path = building.file(tmp_path, "tensorboard", [scalar("loss", step, step) for step in range(100)], session=OLD)
    data = path.read_bytes()
    grown = tmp_path / path.name.replace("1700000000", "1700000005")
    source, collected = Source(grown, {}), []
    for end in range(0, len(data) + 1, 61):
        grown.write_bytes(data[:end])
        collected += [step for track in source.poll().values() for step in track.steps.tolist()]
    grown.write_bytes(data)
    collected += [step for track in source.poll().values() for step in track.steps.tolist()]
    assert collected == list(range(100))
    assert source.track(("scalar", "loss")).steps.tolist() == list(range(100))
    assert source.origin.session == OLD
