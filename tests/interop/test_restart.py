"""Restarts and several writers in one directory, as the real viewers show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testkit import records, views

from summarykit import Run, SummaryRecord

pytestmark = [pytest.mark.viewers, pytest.mark.shared]
WAYS = ["mindinsight python", "tensorboard python", "tensorboard rust"]

Series = dict[int, float]


def record_run(directory: Path, steps: Iterable[int], value: float, tag: str = "loss", **options: Any) -> None:
    with SummaryRecord(str(directory), **options) as record:
        for step in steps:
            record.add_value("scalar", tag, value)
            record.record(step)


@pytest.fixture
def shown(mindinsight_client: Callable[..., Any], tensorboard_client: Callable[..., Any]) -> Callable[[str, Path], dict[str, list]]:
    """``{tag: [(step, value), ...]}`` of one viewer, in its order."""

    def ask(way: str, directory: Path) -> dict[str, list]:
        viewer, access = way.split()
        if viewer == "mindinsight":
            plugins = mindinsight_client(directory).expect_sound()["train_jobs"]["./"]["plugins"]
            return {tag.removesuffix("/scalar"): pairs(points) for tag, points in plugins["scalar"].items()}
        plugins = tensorboard_client(directory, access).expect_sound()["runs"]["."]["plugins"]
        return {tag: pairs(entry["points"]) for tag, entry in plugins["scalars"].items()}

    return ask


def pairs(points: list[dict[str, Any]]) -> list[tuple[int, float]]:
    return [(point["step"], point["value"]) for point in points]


def resolved(directory: Path, tag: str = "loss") -> list[tuple[int, float]]:
    series = Run(str(directory)).scalars(tag)
    return list(zip(series.step.tolist(), series.value.tolist(), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_rs1_a_run_resumed_at_a_step(way, shown, tmp_path):
    record_run(tmp_path, range(150), 1.0)
    record_run(tmp_path, range(100, 120), 2.0, resume=100)
    wanted = [(step, 1.0) for step in range(100)] + [(step, 2.0) for step in range(100, 120)]
    assert shown(way, tmp_path)["loss"] == wanted
    assert resolved(tmp_path) == wanted


@pytest.mark.parametrize("way", WAYS)
def test_rs1_a_run_resumed_again_and_again(way, shown, tmp_path):
    record_run(tmp_path, range(50), 1.0)
    record_run(tmp_path, range(30, 60), 2.0, resume=30)
    record_run(tmp_path, range(55, 70), 3.0, resume=55)
    wanted = [(s, 1.0) for s in range(30)] + [(s, 2.0) for s in range(30, 55)] + [(s, 3.0) for s in range(55, 70)]
    assert shown(way, tmp_path)["loss"] == wanted
    assert resolved(tmp_path) == wanted


@pytest.mark.parametrize("way", WAYS)
def test_a_run_continued_where_it_ended(way, shown, tmp_path):
    """No step is repeated, no step was declared: nothing may vanish."""
    record_run(tmp_path, range(50), 1.0)
    record_run(tmp_path, range(50, 80), 2.0)
    wanted = [(step, 1.0) for step in range(50)] + [(step, 2.0) for step in range(50, 80)]
    assert shown(way, tmp_path)["loss"] == wanted
    assert resolved(tmp_path) == wanted


def test_two_live_writers_of_one_tag_keep_all_points(shown, tmp_path):
    """TensorBoard's Python loader shows all; its rust loader and MindInsight hide steps by design, our reader merges."""
    with SummaryRecord(str(tmp_path)) as odd, SummaryRecord(str(tmp_path)) as even:
        for step in range(1, 21):
            record = odd if step % 2 else even
            record.add_value("scalar", "loss", float(step))
            record.record(step)
    wanted = [(step, float(step)) for step in range(1, 21)]
    assert sorted(shown("tensorboard python", tmp_path)["loss"]) == wanted
    assert resolved(tmp_path) == wanted


@pytest.mark.parametrize("way", WAYS)
def test_two_live_writers_of_different_tags_keep_all_points(way, shown, tmp_path):
    with SummaryRecord(str(tmp_path)) as train, SummaryRecord(str(tmp_path)) as evaluation:
        for step in range(1, 21):
            train.add_value("scalar", "train", float(step))
            train.record(step)
            if step % 5 == 0:
                evaluation.add_value("scalar", "eval", -float(step))
                evaluation.record(step)
    seen = shown(way, tmp_path)
    assert seen["train"] == [(step, float(step)) for step in range(1, 21)]
    assert seen["eval"] == [(step, -float(step)) for step in range(5, 21, 5)]


KILLED = """
import os, signal, sys, time
from summarykit import SummaryRecord
record = SummaryRecord(sys.argv[1])
for step in range(100):
    record.add_value("scalar", "loss", 1.0)
    record.record(step)
record.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("way", WAYS)
def test_a_torn_tail_of_a_dead_writer_does_not_hide_what_follows(way, shown, tmp_path, run_script):
    assert run_script(KILLED, tmp_path).returncode == -9
    for path in records.record_files(tmp_path):
        with open(path, "ab") as stream:    # as if the kill had come in the middle of a write
            stream.write(records.frame(b"x" * 50)[:40])
    record_run(tmp_path, range(100, 120), 2.0, resume=100)
    records.check_directory(tmp_path)
    wanted = [(step, 1.0) for step in range(100)] + [(step, 2.0) for step in range(100, 120)]
    assert shown(way, tmp_path)["loss"] == wanted
    assert resolved(tmp_path) == wanted


@pytest.mark.parametrize("way", WAYS)
def test_rotated_files_are_one_series(way, shown, tmp_path):
    record_run(tmp_path, range(300), 0.1, max_file_size=4096)
    assert len(records.check_directory(tmp_path)) > 4
    assert shown(way, tmp_path)["loss"] == [(step, float(np.float32(0.1))) for step in range(300)]
    assert resolved(tmp_path) == [(step, 0.1) for step in range(300)]


@pytest.mark.parametrize("way", WAYS)
def test_rotated_files_after_a_resume(way, shown, tmp_path):
    """Only the first file of a resumed writer declares the step: a rotation is no restart."""
    record_run(tmp_path, range(300), 1.0, max_file_size=4096)
    record_run(tmp_path, range(200, 500), 2.0, max_file_size=4096, resume=200)
    wanted = [(step, 1.0) for step in range(200)] + [(step, 2.0) for step in range(200, 500)]
    assert shown(way, tmp_path)["loss"] == wanted
    assert resolved(tmp_path) == wanted


def test_both_viewers_agree_on_the_files_of_a_resumed_run(mindinsight_client, tensorboard_client, tmp_path):
    record_run(tmp_path, range(20), 1.0)
    record_run(tmp_path, range(10, 30), 2.0, resume=10)
    left = views.steps(views.mindinsight(mindinsight_client(tmp_path).expect_sound()))
    assert left == views.steps(views.tensorboard(tensorboard_client(tmp_path).expect_sound()))
