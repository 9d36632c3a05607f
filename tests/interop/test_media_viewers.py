"""Sounds, videos, figures, curves, meshes, embeddings and graphs in the real viewers: what they show is what was recorded."""

from __future__ import annotations

import hashlib
import io
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testkit import clients, records, views

from summarykit import Run, SummaryRecord

pytestmark = [pytest.mark.viewers, pytest.mark.shared]
STEPS = (1, 2, 3)
WAYS = [("python",), ("rust",), ("http",), ("http", "--load-fast")]
RNG = np.random.default_rng(11)

SOUNDS = {step: RNG.integers(-(2**15), 2**15, (800, 2), np.int16) for step in STEPS}
CLIPS = {step: RNG.integers(0, 256, (2, 5, 3, 12, 16), np.uint8) for step in STEPS}
LABELS = {step: RNG.random(300) > 0.6 for step in STEPS}
PREDICTIONS = {step: np.clip(LABELS[step] * 0.2 * step + RNG.random(300) * 0.5, 0, 1) for step in STEPS}
CORNERS = {step: RNG.normal(size=(4, 3)).astype(np.float32) for step in STEPS}
FACES = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]], np.int32)
COLORS = RNG.integers(0, 256, (4, 3), np.uint8)
VECTORS = RNG.normal(size=(30, 5)).astype(np.float32)
THUMBNAILS = RNG.integers(0, 256, (30, 3, 6, 6), np.uint8)
WORDS = [[f"word {number}", number, "tab\there"] for number in range(30)]
GRAPH = {
    "image": {"op": "Input", "shape": [-1, 3, 8, 8], "dtype": "float32"},
    "net/conv/weight": {"op": "Parameter", "shape": [4, 3, 3, 3], "dtype": "float32"},
    "net/conv/Conv2d": {
        "op": "Conv2d", "inputs": ["image", "net/conv/weight"], "attributes": {"stride": [1, 1], "mode": "<same>", "bias": False},
        "shape": [-1, 4, 6, 6], "dtype": "float32",
    },
    "net/Relu": {"op": "Relu", "inputs": ["net/conv/Conv2d"], "shape": [-1, 4, 6, 6], "dtype": "float32"},
    "output": {"op": "Output", "inputs": ["net/Relu"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("media")
    with SummaryRecord(str(directory)) as record:
        for step in STEPS:
            record.add_value("audio", "sound/训练", SOUNDS[step], sample_rate=16000)
            record.add_value("video", "clip", CLIPS[step], fps=5)
            record.add_value("image_with_boxes", "boxes", np.zeros((3, 40, 50), np.uint8), boxes=[[5, 5, 30, 5 + 10 * step]])
            record.add_value("pr_curve", "pr", (LABELS[step], PREDICTIONS[step]), num_thresholds=51)
            record.add_value("mesh", "solid", CORNERS[step], colors=COLORS, faces=FACES, config={"camera": {"fov": 60}})
            assert record.record(step)
        record.add_value("graph", "net", GRAPH)
        for tag in ("words", 'quoted "tag"'):
            record.add_value("embedding", tag, VECTORS, metadata=WORDS, metadata_header=["w", "n", "t"], label_img=THUMBNAILS)
        assert record.record(STEPS[-1])
    assert not record.stats()["dropped"], record.stats()
    return directory


@pytest.fixture(scope="module")
def document(run_dir: Path, tensorboard_client: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    known: dict[tuple[str, ...], dict[str, Any]] = {}

    def ask(way: tuple[str, ...]) -> dict[str, Any]:
        if way not in known:
            known[way] = tensorboard_client(run_dir, *way).expect_sound()
        return known[way]

    return ask


def points(document: dict[str, Any], plugin: str, tag: str) -> dict[int, Any]:
    return {point["step"]: point for point in document["runs"]["."]["plugins"][plugin][tag]["points"]}


def by_way(test: Any) -> Any:
    return pytest.mark.parametrize("way", WAYS, ids=" ".join)(test)


def test_every_file_passes_an_independent_walk(run_dir):
    assert len(records.check_directory(run_dir)) == 2


@by_way
def test_pages_are_active(document, way):
    if "active" in document(way):
        assert {"audio", "graphs", "images", "mesh", "pr_curves", "projector"} <= set(document(way)["active"])


def recorded_files(run_dir: Path, kind: str, tag: str) -> dict[int, bytes]:
    """What our reader gives back."""
    series = Run(run_dir).points(kind, tag)
    return {point.step: point.value.encoded if kind == "image" else point.value.data.ravel()[0] for point in series}


@by_way
def test_sounds(document, way, run_dir):
    files = recorded_files(run_dir, "audio", "sound/训练")
    for step, point in points(document(way), "audio", "sound/训练").items():
        (seen,) = point["blobs"]
        assert (seen["format"], seen["sha256"]) == ("wav", hashlib.sha256(files[step]).hexdigest())
        with wave.open(io.BytesIO(files[step])) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())
            assert file.getframerate() == 16000
        np.testing.assert_array_equal(samples, SOUNDS[step])
    assert sorted(files) == list(STEPS)


@by_way
@pytest.mark.parametrize(("tag", "size"), [("clip", (32, 12)), ("boxes", (50, 40))])
def test_pictures(document, way, tag, size, run_dir):
    files = recorded_files(run_dir, "image", tag)
    seen = points(document(way), "images", tag)
    assert sorted(seen) == list(STEPS)
    for step, point in seen.items():
        (image,) = point["images"]
        assert (image["format"], image["width"], image["height"]) == ("png", *size)
        assert image["sha256"] == hashlib.sha256(files[step]).hexdigest()


def test_videos_have_the_recorded_frames(run_dir):
    pillow = pytest.importorskip("PIL.Image")
    for step, file in recorded_files(run_dir, "image", "clip").items():
        picture = pillow.open(io.BytesIO(file))
        assert (picture.n_frames, picture.info["duration"]) == (5, 200)
        for time in range(5):
            picture.seek(time)
            np.testing.assert_array_equal(np.asarray(picture), np.concatenate(CLIPS[step][:, time].transpose(0, 2, 3, 1), axis=1))


def curve(step: int) -> np.ndarray:
    """TensorBoard's six rows, threshold by threshold."""
    labels, above = LABELS[step], [np.floor(PREDICTIONS[step] * 50) >= place for place in range(51)]
    counts = np.array([[(a & labels).sum(), (a & ~labels).sum(), (~a & ~labels).sum(), (~a & labels).sum()] for a in above], "f8").T
    tp, fp, _, fn = counts
    return np.array([*counts, tp / np.maximum(1e-7, tp + fp), tp / np.maximum(1e-7, tp + fn)]).astype("f4")


@by_way
def test_pr_curves(document, way):
    seen = points(document(way), "pr_curves", "pr")
    assert sorted(seen) == list(STEPS)
    for step, point in seen.items():
        expected = curve(step)
        if way[0] == "http":    # the page leaves out what has no positives at all
            assert point["true_positives"]["sha256"] == views.digest(expected[0][: point["true_positives"]["count"]], repr)
            assert point["precision"]["sha256"] == views.digest(expected[4][: point["precision"]["count"]], repr)
            assert point["recall"]["sha256"] == views.digest(expected[5][: point["recall"]["count"]], repr)
        else:
            assert (point["shape"], point["values"]["sha256"]) == ([6, 51], views.digest(expected, repr))


PARTS = {"VERTEX": lambda step: CORNERS[step], "FACE": lambda step: FACES, "COLOR": lambda step: COLORS}


@by_way
@pytest.mark.parametrize("part", PARTS)
def test_meshes(document, way, part):
    if way[0] == "http":
        found = document(way)["runs"]["."]["plugins"]["mesh"]["solid"]["points"]
        seen = {point["step"]: point for point in found if point["content"] == part}
    else:
        seen = points(document(way), "mesh", f"solid_{part}")
    assert sorted(seen) == list(STEPS)
    for step, point in seen.items():
        expected = PARTS[part](step)
        assert point["shape"] == [1, *expected.shape]
        if way[0] == "http":
            assert point["data"]["sha256"] == hashlib.sha256(expected.tobytes()).hexdigest()
        else:
            assert point["values"]["sha256"] == views.digest(expected, repr)


@by_way
def test_the_graph(document, way):
    (point,) = document(way)["runs"]["."]["plugins"]["graphs"]["__run_graph__"]["points"]
    assert point["graphs"] == [{"nodes": 5, "edges": 4, "ops": {"Conv2d": 1, "Input": 1, "Output": 1, "Parameter": 1, "Relu": 1}}]


@by_way
def test_embeddings(document, way, run_dir):
    found = document(way)["projector"]["."]
    if way[0] == "http":
        assert [each["tensorName"] for each in found["embeddings"]] == ["words:00003", 'quoted "tag":00003']
        assert [each["tensorShape"] for each in found["embeddings"]] == [[30, 5]] * 2
        assert [each["sprite"]["singleImageDim"] for each in found["embeddings"]] == [[6, 6]] * 2
    else:
        assert found["tensors"][0] == "words:00003"
        assert len(found["files"]) == 6


def test_embeddings_have_the_recorded_values(run_dir):
    for folder in sorted((run_dir / "embeddings").iterdir()):
        np.testing.assert_array_equal(np.loadtxt(folder / "tensors.tsv", np.float32, delimiter="\t"), VECTORS)
        lines = [line.split("\t") for line in (folder / "metadata.tsv").read_text().splitlines()]
        assert lines == [["w", "n", "t"], *[[word, str(number), "tab\\there"] for word, number, _ in WORDS]]


@pytest.mark.parametrize("options", [(), ("--rest",)], ids=["python", "rest"])
def test_mindinsight(mindinsight_client, run_dir, options):
    """It shows pictures and the graph; what it has no place for does not disturb it."""
    (job,) = clients.once(clients.with_graphs, lambda: mindinsight_client(run_dir, *options))["train_jobs"].values()
    pictures = {tag.removesuffix("/image"): {point["step"]: point for point in seen} for tag, seen in job["plugins"]["image"].items()}
    assert sorted(pictures) == ["boxes", "clip"]
    for tag, seen in pictures.items():
        files = recorded_files(run_dir, "image", tag)
        assert {step: point["sha256"] for step, point in seen.items()} == {
            step: hashlib.sha256(file).hexdigest() for step, file in files.items()
        }
    (graph,) = job["plugins"]["graph"].values()
    assert graph == {
        "top_nodes": ["image", "net", "output"], "leaf_nodes": 5, "edges": 4,
        "types": {"Conv2d": 1, "Input": 1, "Output": 1, "Parameter": 1, "Relu": 1},
    }  # fmt: skip


def test_both_files_hold_the_same_graph(run_dir):
    files = [path for path in run_dir.iterdir() if path.is_file() and "events" in path.name]
    (one,), (other,) = (Run(path).graph() for path in files)
    assert {node.name: node for node in one.nodes} == {node.name: node for node in other.nodes}
    assert {node.name for node in one.nodes} == set(GRAPH)
    assert next(node for node in one.nodes if node.op == "Conv2d").attributes == GRAPH["net/conv/Conv2d"]["attributes"]


def test_our_reader_has_every_kind(run_dir):
    tags = {kind: sorted(found) for kind, found in Run(run_dir).tags().items()}
    assert tags == {
        "audio": ["sound/训练"], "image": ["boxes", "clip"], "pr_curve": ["pr"], "mesh": ["solid_COLOR", "solid_FACE", "solid_VERTEX"],
        "graph": ["net"], "embedding": ['quoted "tag"', "words"],
    }  # fmt: skip
