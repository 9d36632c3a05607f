"""MetricWriter: dictionaries a step, as clu's users write them."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import MetricWriter, Run, SummaryWriter
from summarykit.formats.proto.messages import message
from summarykit.formats.tensorboard.hparams import settings

RNG = np.random.default_rng(3)


def test_the_example_of_its_docstring(tmp_path):
    with MetricWriter(tmp_path / "first") as writer:
        writer.write_scalars(1, {"loss": 0.5, "accuracy": 0.9})
    run = Run(tmp_path / "first")
    assert {tag: run.scalars(tag).value.tolist() for tag in run.tags()["scalar"]} == {"loss": [0.5], "accuracy": [0.9]}


def test_every_method(tmp_path):
    told = message("tensorboard.SummaryMetadata")()
    told.plugin_data.plugin_name = "mine"
    with MetricWriter(tmp_path, formats=("tensorboard", "mindspore")) as writer:
        writer.write_scalars(1, {"loss": np.float32(0.5), "nested": {"a": 1}})
        writer.write_images(2, {"batch": RNG.random((2, 6, 5, 3)), "one": RNG.random((6, 5, 1))})
        writer.write_videos(3, {"clips": RNG.random((1, 2, 6, 5, 3)), "clip": RNG.random((2, 6, 5, 3))})
        writer.write_audios(4, {"one": RNG.random((1, 100, 1)), "two": RNG.random((2, 100, 2)), "plain": RNG.random(100)}, sample_rate=8000)
        writer.write_texts(5, {"note": "**text**"})
        writer.write_histograms(6, {"usual": RNG.random(500), "seven": RNG.random(500)}, num_buckets={"seven": 7})
        writer.write_pointcloud(7, {"cloud": RNG.random((5, 3))}, point_colors={"cloud": RNG.random((5, 3))}, configs={"camera": {}})
        writer.write_hparams({"lr": 0.1, "net": {"layers": 3}})
        writer.write_summaries(8, {"array": np.arange(3), "special": np.arange(4.0)}, {"special": told})
        writer.flush()
        assert writer.writer.stats()["dropped"] == {}
    run = Run(tmp_path)
    assert run.tags() == {
        "scalar": ["loss", "nested/a"], "histogram": ["seven", "usual"], "image": ["batch", "clip", "clips", "one"], "tensor": ["array"],
        "audio": ["one", "plain", "two/0", "two/1"], "hparams": [f"_hparams_/session_{part}_info" for part in ("end", "start")],
        "mesh": ["cloud_COLOR", "cloud_VERTEX"], "mine": ["special"], "text": ["note"],
    }  # fmt: skip
    assert (run.images("batch")[0].value.width, run.images("one")[0].value.channels) == (10, 1)
    assert len(run.histograms("seven")[0].value.counts) == 7
    assert settings(run.points("hparams", "_hparams_/session_start_info")[0].value.metadata) == {"lr": 0.1, "net/layers": 3.0}
    assert [series[0].step for series in (run.scalars("loss"), run.images("one"), run.points("text", "note"), run.tensors("array"))] == [
        1, 2, 5, 8
    ]  # fmt: skip


def test_bad_values_cost_themselves_only(tmp_path):
    with MetricWriter(tmp_path) as writer:
        writer.write_scalars(1, {"bad": None, "good": 1.0})
        writer.write_images(1, {"bad": None, "worse": "text", "worst": np.zeros(3)})
        writer.write_videos(1, {"bad": None})
        writer.write_audios(1, {"bad": None, "worse": np.zeros((2, 5, 7))})
        writer.write_histograms(1, {"bad": object()}, num_buckets={"bad": 0})
        writer.write_summaries(1, {"bad": "text"}, {"bad": 5})
    assert Run(tmp_path).tags() == {"scalar": ["good"]}
    assert sum(writer.writer.stats()["dropped"].values()) == 1 + 3 + 1 + 3 + 1 + 1


def test_over_a_writer_that_is_there(tmp_path):
    inner = SummaryWriter(tmp_path)
    MetricWriter(inner).write_scalars(1, {"loss": 0.5})
    inner.add_scalar("loss", 0.25, 2)
    inner.close()
    assert Run(tmp_path).scalars("loss").value.tolist() == [0.5, 0.25]
    with pytest.raises(TypeError, match="purge_step"):
        MetricWriter(inner, purge_step=3)


@pytest.mark.parametrize("call", ["scalars", "images", "videos", "audios", "texts", "histograms", "pointcloud", "summaries"])
def test_arguments_in_the_wrong_order_cost_their_values_alone(call, tmp_path):
    with MetricWriter(tmp_path) as writer:
        getattr(writer, f"write_{call}")({"loss": 0.5}, 1)
        writer.write_scalars(1, {"loss": 0.5})
    (reason,) = writer.writer.stats()["dropped"]
    assert "takes a dict of names and values; got a value of type int" in reason
    assert Run(tmp_path).tags() == {"scalar": ["loss"]}
