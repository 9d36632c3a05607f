"""A run resumed through SummaryWriter: the same picture in TensorBoard's loaders and in our reader, for every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testkit import views

from summarykit import Run, SummaryWriter

pytestmark = [pytest.mark.viewers, pytest.mark.shared]
WAYS = ["python", "rust", "http"]
KINDS = {"scalar": "scalars", "histogram": "histograms", "image": "images", "text": "text", "pr_curve": "pr_curves", "audio": "audio"}


def record(directory: Path, steps: range, value: float, **options: Any) -> None:
    """One value of every kind a step; the scalar, the histogram and the text say which run they are of."""
    with SummaryWriter(directory, **options) as writer:
        for step in steps:
            writer.add_scalar("scalar", value, step)
            writer.add_scalar("titled", value, step, display_name="Title", summary_description="what")
            writer.add_scalars("group", {"a": value, "b": step / 2}, step)
            writer.add_histogram("histogram", [value] * 5, step)
            writer.add_text("text", f"run {value}", step)
            writer.add_image("image", np.full((1, 4, 4), value / 4), step)
            writer.add_pr_curve("pr_curve", [0, 1], [0.2, value / 4], step)
            writer.add_audio("audio", np.full(10, value / 4), step)


@pytest.fixture(scope="module", params=["purge_step", "resume"])
def resumed(request, tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp(request.param)
    record(directory, range(8), 1.0)
    record(directory, range(5, 7), 2.0, **{request.param: 5})
    return directory


WANTED = [(step, 1.0) for step in range(5)] + [(5, 2.0), (6, 2.0)]


@pytest.mark.parametrize("way", WAYS)
def test_rs1_tensorboard_shows_what_counts(resumed: Path, tensorboard_client: Callable[..., Any], way: str):
    plugins = tensorboard_client(resumed, way).expect_sound()["runs"]["."]["plugins"]
    for tag in ("scalar", "titled", "group/a"):
        assert [(p["step"], p["value"]) for p in plugins["scalars"][tag]["points"]] == WANTED
    for kind, plugin in KINDS.items():
        if kind != "scalar":
            assert [point["step"] for point in plugins[plugin][kind]["points"]] == [step for step, _ in WANTED], kind
    ends = [[views.number(n) for n in point["buckets"][-1]] for point in plugins["histograms"]["histogram"]["points"]]
    assert [round(left) for left, _, _ in ends] == [round(value) for _, value in WANTED]
    said = [point.get("html") or point["strings"][0] for point in plugins["text"]["text"]["points"]]
    assert all(f"run {value}" in text for text, (_, value) in zip(said, WANTED, strict=True))
    assert plugins["scalars"]["titled"]["display_name"] == "Title"
    assert plugins["scalars"]["titled"]["description"] in ("what", "<p>what</p>")


def test_rs1_our_reader_gives_what_counts(resumed: Path):
    run, raw = Run(resumed), Run(resumed, raw=True)
    for tag in ("scalar", "titled", "group/a"):
        series = run.scalars(tag)
        assert list(zip(series.step.tolist(), series.value.tolist(), strict=True)) == WANTED
        assert len(raw.scalars(tag)) == 10
    for kind in KINDS:
        assert run.points(kind, kind).step.tolist() == [step for step, _ in WANTED]
    assert [point.value.data.item().decode() for point in run.points("text", "text")] == [f"run {value}" for _, value in WANTED]
    assert run.damage == []


@pytest.mark.parametrize("way", WAYS)
def test_g4_the_charts_of_a_resumed_run_are_there(resumed: Path, tensorboard_client: Callable[..., Any], way: str):
    document = tensorboard_client(resumed, way).expect_sound()
    if way == "http":
        (category,) = document["custom_scalars"]["category"]
        assert category["chart"] == [{"title": "group", "multiline": {"tag": ["group/a$", "group/b$"]}}]
    else:
        assert document["runs"]["."]["plugins"]["custom_scalars"]["custom_scalars__config__"]["points"]


@pytest.mark.parametrize("way", WAYS)
def test_a_late_step_is_kept(tmp_path: Path, tensorboard_client: Callable[..., Any], way: str):
    """RS6: our reader sorts it in; TensorBoard's Rust loader, alone, drops what a lower step follows."""
    with SummaryWriter(tmp_path) as writer:
        for step in (1, 2, 4, 3, 5):
            writer.add_scalar("loss", float(step), step)
    assert Run(tmp_path).scalars("loss").step.tolist() == [1, 2, 3, 4, 5]
    points = tensorboard_client(tmp_path, way).expect_sound()["runs"]["."]["plugins"]["scalars"]["loss"]["points"]
    assert [point["step"] for point in points] == ([1, 2, 3, 5] if way == "rust" else [1, 2, 4, 3, 5])


@pytest.mark.parametrize("way", WAYS)
def test_a_closed_and_reopened_writer_keeps_all_points(tmp_path: Path, tensorboard_client: Callable[..., Any], way: str):
    writer = SummaryWriter(tmp_path)
    for epoch in range(3):
        for step in range(epoch * 5, epoch * 5 + 5):
            writer.add_scalar("loss", float(step), step)
        writer.close()
    points = tensorboard_client(tmp_path, way).expect_sound()["runs"]["."]["plugins"]["scalars"]["loss"]["points"]
    assert [(point["step"], point["value"]) for point in points] == [(step, float(step)) for step in range(15)]
