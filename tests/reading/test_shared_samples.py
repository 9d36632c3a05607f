"""Files that MindSpore and torch wrote: what is read is what the real viewers show of them."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import pytest
from testkit import views

from summarykit.formats.tensorboard.parse import DIALECT
from summarykit.reading import Run, runs, verify
from summarykit.shapes import Node

pytestmark = pytest.mark.shared

MINDSPORE = {
    "corrupt_two_processes": {"scalar": 306},
    "edge_values": {"scalar": 5, "histogram": 4, "tensor": 3},
    "fit_with_eval": {"scalar": 8, "histogram": 24, "image": 8, "tensor": 4, "graph": 1, "lineage": 2},
    "graph_mode": {"scalar": 36, "histogram": 144, "image": 36, "tensor": 18, "graph": 1, "lineage": 4},
    "killed_writer_truncated": {"scalar": 96},
    "landscape_1dev": {"scalar": 1, "histogram": 1, "image": 1, "tensor": 1, "landscape": 3},
    "landscape_2dev": {"landscape": 3},
    "max_file_size_200": {"scalar": 3},
    "pynative_mode": {"scalar": 36, "histogram": 144, "image": 36, "tensor": 18, "lineage": 4},
}
TORCH = {
    "scalar": 63, "histogram": 3, "image": 6, "tensor": 3, "audio": 3, "custom_scalars": 1, "graph": 1, "mesh": 9,
    DIALECT.kind("pr_curves"): 3, "run_metadata": 1, "text": 3,
}  # fmt: skip
BROKEN = {"corrupt_two_processes", "killed_writer_truncated"}


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def counts(run: Run) -> dict[str, int]:
    return {kind: sum(len(run.points(kind, tag)) for tag in tags) for kind, tags in run.tags().items()}


@pytest.fixture(scope="module")
def mindinsight(shared, mindinsight_client):
    document = cache(lambda: mindinsight_client(shared / "data/mindspore").document)
    return lambda name: views.mindinsight(document(), f"./{name}")


@pytest.fixture(scope="module")
def tensorboard(shared, tensorboard_client):
    document = cache(lambda: tensorboard_client(shared / "data/tensorboard").expect_sound())
    return lambda run: document()["runs"][run]["plugins"]


@pytest.mark.parametrize("name", MINDSPORE)
def test_everything_in_mindspores_files_is_read(shared, name):
    assert counts(Run(shared / "data/mindspore" / name)) == MINDSPORE[name]


@pytest.mark.parametrize("name", ["r1", "r2"])
def test_everything_in_torchs_files_is_read(shared, name):
    found = runs(shared / "data/tensorboard" / name)
    assert counts(found["."]) == TORCH
    assert counts(found["hp"]) == {"scalar": 1, "hparams": 3}
    assert found.scalars("multi").run.tolist() == ["multi_a", "multi_b"]


def test_damage_is_told_where_it_is(shared):
    report = verify(shared / "data")
    broken = {file.path.parent.name: file for file in report.files if not file.ok}
    assert set(broken) == BROKEN
    assert broken["killed_writer_truncated"].truncated == 4076
    assert [each.offset for each in broken["corrupt_two_processes"].damage] == [13116]


@pytest.mark.viewers
@pytest.mark.parametrize("name", sorted(set(MINDSPORE) - BROKEN))
def test_mindinsight_shows_the_same(shared, mindinsight, name):
    run, compared = Run(shared / "data/mindspore" / name), 0
    for (kind, tag), shown in mindinsight(name).items():
        series = run.points(kind, tag)
        for step, seen in shown.items():
            point = series[series.place(step)]
            assert point.wall_time == seen["wall_time"]
            COMPARE[kind](point.value, seen)
            compared += 1
    assert compared or not {"scalar", "histogram"} & set(MINDSPORE[name])


def compare_scalars(found, seen):
    np.testing.assert_equal(found.value, views.number(seen["value"]))


def compare_images(found, seen):
    assert (found.width, found.height, sha(found.encoded)) == (seen["width"], seen["height"], seen["sha256"])


def compare_tensors(found, seen):
    assert list(found.data.shape) == seen["dims"]
    assert seen["data_type"] == f"DT_{found.dtype.upper()}"
    assert views.digest(found.data.astype("f4"), str) == seen["digest"]["sha256"]


def compare_histograms(found, seen):
    """MindInsight's list has left edge, width and count of each bucket."""
    rows = np.array(seen["written_buckets"], np.float64).reshape(-1, 3)
    np.testing.assert_array_equal(found.edges[:-1], rows[:, 0])
    np.testing.assert_allclose(np.diff(found.edges), rows[:, 1], rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(found.counts, rows[:, 2])
    assert (found.finite, found.min, found.max) == (seen["count"], seen["min"], seen["max"])


COMPARE = {"scalar": compare_scalars, "image": compare_images, "tensor": compare_tensors, "histogram": compare_histograms}


@pytest.mark.viewers
@pytest.mark.parametrize("name", ["r1", "r1/hp", "r1/multi_a", "r1/multi_b", "r2", "r2/hp", "r2/multi_a", "r2/multi_b"])
def test_tensorboard_shows_the_same(shared, tensorboard, name):
    run = Run(shared / "data/tensorboard" / name, raw=True)
    for plugin, tags in tensorboard(name).items():
        for tag, entry in tags.items():
            compare_tag(run, plugin, tag, entry)


def compare_tag(run: Run, plugin: str, tag: str, entry: dict) -> None:
    kind = DIALECT.kind(plugin)
    if plugin == "hparams":
        assert run.points(kind, tag)[0].value.metadata
        return
    if plugin in ("graphs", "graph_tagged_run_metadata"):
        assert len(run.points("graph" if plugin == "graphs" else "run_metadata", "graph" if plugin == "graphs" else "run_metadata")) == 1
        return
    series = run.points(kind, tag)
    assert [(point.step, point.wall_time) for point in series] == [(seen["step"], seen["wall_time"]) for seen in entry["points"]]
    for point, seen in zip(series, entry["points"], strict=True):
        compare_point(point.value, seen)


def compare_point(found: object, seen: dict) -> None:
    if "value" in seen:
        compare_scalars(found, seen)
    elif "buckets" in seen:
        rows = np.array(seen["buckets"])
        np.testing.assert_allclose(found.edges[:-1], rows[:, 0], rtol=1e-6)
        np.testing.assert_allclose(found.edges[-1], rows[-1, 1], rtol=1e-6)
        np.testing.assert_array_equal(found.counts, rows[:, 2])
    elif "images" in seen:
        assert (found.width, found.height, sha(found.encoded)) == (seen["width"], seen["height"], seen["images"][0]["sha256"])
    elif "blobs" in seen:
        assert sha(found.data.reshape(-1)[0]) == seen["blobs"][0]["sha256"]
    elif "strings" in seen:
        assert [text.decode("utf-8", "replace") for text in found.data.reshape(-1)] == seen["strings"]
        assert list(found.data.shape) == seen["shape"]
    else:
        assert (found.data.dtype, list(found.data.shape)) == (seen["dtype"], seen["shape"])
        assert views.digest(found.data, repr) == seen["values"]["sha256"]


def test_exported_arrays_are_the_recorded_tensors(shared):
    """MindSpore wrote the tensors a second time, as .npy files."""
    series = Run(shared / "data/mindspore/graph_mode").tensors("op/logits")
    for step in series.step.tolist():
        (exported,) = (shared / "data/mindspore/graph_mode").glob(f"export_*/tensor/op%2Flogits_{step}.npy")
        np.testing.assert_array_equal(np.asarray(series.at(step)), np.load(exported))


def test_graphs_are_whole(shared):
    (graph,) = Run(shared / "data/mindspore/graph_mode").graph()
    parameters = [node for node in graph.nodes if node.op == Node.PARAMETER]
    assert (len(graph.nodes), len(parameters)) == (78 + 21 + 23, 21)
    names = {node.name for node in graph.nodes}
    assert len(names) == len(graph.nodes)
    assert {source for node in graph.nodes for source in node.inputs} <= names
    load = next(node for node in graph.nodes if node.name.endswith("conv1-Conv2d/Load-op0"))
    assert load.scope == "Default/network-WithLossCell/_backbone-Net/conv1-Conv2d"
    assert load.inputs[0] == "conv1.bias"
