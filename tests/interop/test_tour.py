"""The example that writes every kind: each of TensorBoard's pages shows what it wrote, through each of its loaders."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from summarykit import Run

pytestmark = [pytest.mark.viewers, pytest.mark.shared]
WAYS = ["python", "rust", "http"]
STEPS, SOME = list(range(20)), [0, 5, 10, 15]
SHOWN = {
    "scalars": {
        "loss": STEPS, "accuracy": STEPS, "losses/training": STEPS, "losses/validation": STEPS, "optimizer/lr": STEPS,
        "optimizer/momentum": STEPS, "final/accuracy": [0],
    },
    "histograms": {"weights": STEPS, "raw": STEPS},
    "images": {"image": SOME, "batch": SOME, "boxes": SOME, "figure": SOME, "video": SOME},
    "audio": {"sound": SOME},
    "text": {"note": STEPS},
    "pr_curves": {"precision_recall": SOME},
}  # fmt: skip
PAGES = {
    "audio", "custom_scalars", "distributions", "graphs", "histograms", "hparams", "images", "mesh", "pr_curves", "projector", "scalars",
    "text", "timeseries",
}  # fmt: skip


@pytest.fixture(scope="module")
def tour(tmp_path_factory, checkout: Path) -> Path:
    pytest.importorskip("matplotlib")
    directory = tmp_path_factory.mktemp("tour")
    runpy.run_path(str(checkout / "examples/tensorboard_tour.py"))["main"](str(directory))
    return directory


@pytest.fixture(scope="module")
def shown(tour: Path, tensorboard_client: Callable[..., Any]) -> Callable[[str], dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}

    def ask(way: str) -> dict[str, Any]:
        if way not in known:
            known[way] = tensorboard_client(tour, way).expect_sound()
        return known[way]

    return ask


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("plugin", SHOWN)
def test_all_tags_and_steps_are_shown(shown, way, plugin):
    tags = shown(way)["runs"]["."]["plugins"][plugin]
    assert {tag: [point["step"] for point in entry["points"]] for tag, entry in tags.items()} == SHOWN[plugin]


@pytest.mark.parametrize("way", WAYS)
def test_scalars_are_those_that_our_reader_gives(shown, tour, way):
    run = Run(tour)
    for tag, entry in shown(way)["runs"]["."]["plugins"]["scalars"].items():
        values = np.array([point["value"] for point in entry["points"]])
        np.testing.assert_array_equal(values.astype("f4"), run.scalars(tag).value.astype("f4"))
    assert shown(way)["runs"]["."]["plugins"]["scalars"]["accuracy"]["display_name"] == "Accuracy"


@pytest.mark.parametrize("way", WAYS)
def test_meshes_and_graph(shown, way):
    plugins = shown(way)["runs"]["."]["plugins"]
    (graph,) = plugins["graphs"].values()
    if way == "http":
        contents = {point["content"] for point in plugins["mesh"]["tetrahedron"]["points"]}
    else:
        contents = {tag.removeprefix("tetrahedron_") for tag in plugins["mesh"] if tag.startswith("tetrahedron")}
        assert plugins["tensor"]["tensor"]["points"][0]["shape"] == [3, 4]
    assert contents == {"VERTEX", "FACE", "COLOR"}
    assert graph


def test_every_page_is_there(shown):
    assert set(shown("http")["active"]) == PAGES


def test_settings_charts_and_embedding(shown):
    document = shown("http")
    (session,) = document["hparams"]["session_groups"]["sessionGroups"]
    assert session["hparams"] == {"lr": 0.1, "net/layers": "[784, 10]", "net/dropout": "None", "augment": True}
    assert [(metric["name"]["tag"], round(metric["value"], 5)) for metric in session["metricValues"]] == [("final/accuracy", 0.97)]
    titles = {(category["title"], chart["title"]) for category in document["custom_scalars"]["category"] for chart in category["chart"]}
    assert titles == {("default", "losses"), ("overview", "both"), ("overview", "band")}
    (embedding,) = document["projector"]["."]["embeddings"]
    assert embedding["tensorShape"] == [90, 10]
    assert embedding["sprite"]["singleImageDim"] == [8, 8]
