"""Runs that are resumed: nothing is dropped because of its step, and the resolved view has one value per tag and step."""

from __future__ import annotations

import errno

import pytest
from testkit import events

from summarykit import Run, SummaryRecord, SummaryWriter
from summarykit.writing import file, maker
from summarykit.writing.resumption import Resumption


def record_run(directory, steps, value, tag="loss", **options):
    with SummaryRecord(directory, **options) as record:
        for step in steps:
            record.add_value("scalar", tag, value)
            assert record.record(step)


def resolved(directory, tag="loss"):
    series = Run(directory).scalars(tag)
    return list(zip(series.step.tolist(), series.value.tolist(), strict=True))


def test_rs1_a_run_resumed_at_step_100(tmp_path):
    record_run(tmp_path, range(150), 1.0)
    record_run(tmp_path, range(100, 120), 2.0, resume=100)
    assert resolved(tmp_path) == [(step, 1.0) for step in range(100)] + [(step, 2.0) for step in range(100, 120)]
    assert len(Run(tmp_path, raw=True).scalars("loss")) == 170
    assert len(events.both(tmp_path)) == 170
    starts = [events.purges(path) for path in events.files(tmp_path, "tensorboard")]
    assert starts == [[events.LAST_STEP], [events.LAST_STEP, 100]]


def test_rs1_rotated_files_of_a_resumed_run_purge_only_once(tmp_path):
    record_run(tmp_path, range(50), 1.0)
    record_run(tmp_path, range(30, 130), 2.0, resume=30, max_file_size=1500)
    starts = [events.purges(path) for path in events.files(tmp_path, "tensorboard")]
    assert len(starts) > 3
    assert starts == [[events.LAST_STEP], [events.LAST_STEP, 30]] + [[events.LAST_STEP]] * (len(starts) - 2)
    assert resolved(tmp_path) == [(step, 1.0) for step in range(30)] + [(step, 2.0) for step in range(30, 130)]


def test_rs3_one_rank_restarts_and_the_others_keep_their_points(tmp_path):
    for rank in range(4):
        record_run(tmp_path, range(100), 1.0, rank=rank)
    record_run(tmp_path, range(50, 70), 2.0, rank=2, resume=50)
    places = [tmp_path, *(tmp_path / f"rank_{rank}" for rank in range(1, 4))]
    expected = [(step, 1.0) for step in range(100)]
    assert [resolved(places[rank]) == expected for rank in range(4)] == [True, True, False, True]
    assert resolved(places[2]) == expected[:50] + [(step, 2.0) for step in range(50, 70)]


def test_rs4_a_lower_step_of_another_tag_purges_nothing(tmp_path):
    with SummaryRecord(tmp_path) as record:
        for step in range(100):
            record.add_value("scalar", "train", float(step))
            record.record(step)
        record.add_value("tensor", "note", [1.0])
        record.record(0)    # what has no step
        record.add_value("scalar", "val", 1.0)
        record.record(5)
    assert resolved(tmp_path, "train") == [(step, float(step)) for step in range(100)]
    assert resolved(tmp_path, "val") == [(5, 1.0)]
    assert [events.purges(path) for path in events.files(tmp_path, "tensorboard")] == [[events.LAST_STEP]]


def test_rs6_a_late_metric_of_an_earlier_step_is_kept(tmp_path):
    record_run(tmp_path, [1, 2, 4, 3, 5], 1.0)
    assert [step for step, _ in events.both(tmp_path)] == [1, 2, 4, 3, 5]
    assert [step for step, _ in resolved(tmp_path)] == [1, 2, 3, 4, 5]


def test_a_run_that_goes_on_after_its_end_without_a_word(tmp_path):
    record_run(tmp_path, range(10), 1.0)
    record_run(tmp_path, range(5, 15), 2.0)
    assert resolved(tmp_path) == [(step, 1.0) for step in range(5)] + [(step, 2.0) for step in range(5, 15)]
    assert len(events.both(tmp_path)) == 20


def test_a_resumed_run_that_cannot_begin_at_first_begins_later(tmp_path, monkeypatch):
    """What it resumed at is told as soon as the disk has room."""

    def full(*arguments):
        raise OSError(errno.ENOSPC, "no space left on device")

    record_run(tmp_path, range(50), 1.0)
    with SummaryRecord(tmp_path, resume=30) as record:
        for refused in ("open", "write"):
            with monkeypatch.context() as patch:
                patch.setattr(file.os, refused, full)
                record.add_value("scalar", "loss", 2.0)
                record.record(30)
                record.flush()
        record.add_value("scalar", "loss", 3.0)
        record.record(31)
    starts = [events.purges(path) for path in events.files(tmp_path, "tensorboard")]
    assert starts == [[events.LAST_STEP], [events.LAST_STEP, 30]]
    assert resolved(tmp_path) == [(step, 1.0) for step in range(30)] + [(30, 2.0), (31, 3.0)]


def test_while_no_file_can_be_made_nobody_looks_again_and_again_who_has_begun(tmp_path, monkeypatch):
    """There may be thousands of files to look into."""

    def refused(path):
        raise OSError(errno.ENOSPC, "no space left on device")

    looks = []
    begins = Resumption.begins
    monkeypatch.setattr(Resumption, "begins", lambda self, *where: looks.append(where) or begins(self, *where))
    record_run(tmp_path, range(10), 1.0)
    with SummaryRecord(tmp_path, resume=5) as record:
        with monkeypatch.context() as patch:
            patch.setattr(maker, "RecordFile", refused)
            for step in (5, 6):
                record.add_value("scalar", "loss", 2.0)
                record.record(step)
                record.flush()
        assert not looks
        record.add_value("scalar", "loss", 3.0)
        record.record(7)
    assert len(looks) == 1
    assert resolved(tmp_path) == [(step, 1.0) for step in range(5)] + [(7, 3.0)]


def test_rs1_a_run_that_is_resumed_and_tells_its_lineage_before_its_first_value(tmp_path):
    record_run(tmp_path, range(10), 1.0)
    with SummaryRecord(tmp_path, resume=5) as record:
        record.add_value("train_lineage", "train_lineage", {"network": "Net"})
        record.record(4)
        record.flush()
        record.add_value("scalar", "loss", 2.0)
        record.record(5)
    assert resolved(tmp_path) == [(step, 1.0) for step in range(5)] + [(5, 2.0)]
    starts = [events.purges(path) for path in events.files(tmp_path, "tensorboard")]
    assert starts == [[events.LAST_STEP], [events.LAST_STEP, 5]]


def test_a_writer_that_was_closed_and_is_used_again_resumes_once(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(10):
            writer.add_scalar("loss", 1.0, step)
    writer = SummaryWriter(tmp_path, purge_step=5)
    writer.close()
    for step in range(5, 8):
        writer.add_scalar("loss", 2.0, step)
        writer.close()
    assert resolved(tmp_path) == [(step, 1.0) for step in range(5)] + [(step, 2.0) for step in range(5, 8)]
    starts = [events.purges(path) for path in events.files(tmp_path, "tensorboard")]
    assert starts == [[events.LAST_STEP], [events.LAST_STEP, 5], [events.LAST_STEP], [events.LAST_STEP]]


def record_curves(directory, steps, value, **options):
    with SummaryWriter(directory, add_scalars_as="runs", **options) as writer:
        for step in steps:
            writer.add_scalars("loss", {"a": value, "b": value}, step)


@pytest.mark.parametrize("rank", [0, 2])
def test_rs1_curves_in_runs_of_their_own_are_resumed_with_their_writer(rank, tmp_path):
    record_curves(tmp_path, range(10), 1.0, rank=rank)
    with SummaryWriter(tmp_path, add_scalars_as="runs", purge_step=5, rank=rank) as writer:
        writer.add_scalars("loss", {"a": 2.0, "new": 2.0}, 5)
    place = f"rank_{rank}" if rank else "."
    assert resolved(tmp_path / "loss_a" / place) == [(step, 1.0) for step in range(5)] + [(5, 2.0)]
    assert resolved(tmp_path / "loss_b" / place) == [(step, 1.0) for step in range(10)]    # nobody has come to it yet
    assert [events.purges(path) for path in events.files(tmp_path / "loss_new", "tensorboard")] == [[events.LAST_STEP]]


def test_rs1_such_runs_are_found_again_by_a_relative_path_and_after_a_change_of_directory(tmp_path, monkeypatch):
    record_curves(tmp_path / "run", range(10), 1.0)
    (tmp_path / "elsewhere").mkdir()
    for home, name in ((None, "run"), (tmp_path, "~/run")):
        monkeypatch.chdir(tmp_path)
        if home:
            monkeypatch.setenv("HOME", str(home))
        with SummaryWriter(name, add_scalars_as="runs", purge_step=5) as writer:
            monkeypatch.chdir("elsewhere")
            writer.add_scalars("loss", {"a" if home else "b": 2.0}, 5)
    for key in "ab":
        assert resolved(tmp_path / f"run/loss_{key}") == [(step, 1.0) for step in range(5)] + [(5, 2.0)]
    assert not list((tmp_path / "elsewhere").iterdir())


def test_rs1_such_a_run_is_resumed_behind_a_link_and_whatever_else_is_put_there(tmp_path):
    """Checkpoints, for example, may come before the first value."""
    record_curves(tmp_path / "run", range(10), 1.0)
    (tmp_path / "run/loss_b").rename(tmp_path / "elsewhere")
    (tmp_path / "run/loss_b").symlink_to(tmp_path / "elsewhere")
    with SummaryWriter(tmp_path / "run", add_scalars_as="runs", purge_step=5) as writer:
        (tmp_path / "run/loss_a/last.ckpt").write_text("weights")
        writer.add_scalars("loss", {"a": 2.0, "b": 2.0}, 5)
    for key in "ab":
        assert resolved(tmp_path / f"run/loss_{key}") == [(step, 1.0) for step in range(5)] + [(5, 2.0)]


@pytest.mark.parametrize("first", ["parent", "child", "copy"])
def test_fk1_a_curve_is_resumed_by_whichever_process_comes_first(first, run_script, tmp_path):
    """A second beginning would hide what the first process has recorded since."""
    record_curves(tmp_path, range(10), 1.0)
    code = """
import os, pickle, sys
from summarykit import SummaryWriter

def record(writer, key, step):
    writer.add_scalars("loss", {key: 2.0}, step)
    writer.close()

def child(step):
    pid = os.fork()
    if not pid:
        record(writer, "a", step)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

ways = {"parent": lambda step: record(writer, "a", step), "child": child, "copy": lambda step: record(copy, "a", step)}
writer = SummaryWriter(sys.argv[1], purge_step=5, add_scalars_as="runs")
copy = pickle.loads(pickle.dumps(writer))
for step, way in enumerate(sorted(ways, key=lambda way: way != sys.argv[2]), 5):
    ways[way](step)
"""
    run_script(code, tmp_path, first).expect_success()
    assert resolved(tmp_path / "loss_a") == [(step, 1.0) for step in range(5)] + [(step, 2.0) for step in range(5, 8)]
    purges = [events.purges(path) for path in events.files(tmp_path / "loss_a", "tensorboard")]
    assert purges == [[events.LAST_STEP], [events.LAST_STEP, 5], [events.LAST_STEP], [events.LAST_STEP]]
