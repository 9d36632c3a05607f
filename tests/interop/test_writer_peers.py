"""One import changed: the same calls on PyTorch's SummaryWriter, on tensorboardX's and on ours, and what TensorBoard then shows."""

from __future__ import annotations

import inspect
import io
import json
import os
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from testkit import views, writer_calls

from summarykit import Run, SummaryWriter

pytestmark = [pytest.mark.viewers, pytest.mark.shared]

OURS = "summarykit"
PEERS = ["torch.utils.tensorboard", "tensorboardX"]
WAYS = ["python", "rust", "http"]
IMAGES = ["image/chw", "image/hwc", "image/hw", "image/batch"]
NOT_THERE = {"torch.utils.tensorboard": set(), "tensorboardX": {"add_tensor"}}
NOT_OURS = {"add_openvino_graph"}    # its reader is no longer published


class Made(NamedTuple):
    """What one library wrote, and what it said."""

    directory: Path
    report: dict[str, Any]

    @property
    def run(self) -> Run:
        return Run(self.directory / "run")


@pytest.fixture(scope="module")
def made(tmp_path_factory, peers_python, checkout) -> dict[str, Made]:
    found = {}
    for module in [OURS, *PEERS]:
        directory = tmp_path_factory.mktemp(module)
        python = sys.executable if module == OURS else peers_python
        environment = {**os.environ, "PYTHONPATH": str(checkout) if module == OURS else ""}
        command = [str(python), writer_calls.__file__, module, str(directory)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, check=False, cwd=directory)
        assert done.returncode == 0, done.stderr
        found[module] = Made(directory, json.loads(done.stdout.splitlines()[-1]))
    return found


@pytest.fixture(scope="module")
def shown(made, tensorboard_client):
    """``shown(module, access)``: TensorBoard's document, each asked for once."""
    known: dict[tuple[str, str], dict[str, Any]] = {}

    def ask(module: str, access: str) -> dict[str, Any]:
        if (module, access) not in known:
            known[module, access] = tensorboard_client(made[module].directory, access).expect_sound()
        return known[module, access]

    return ask


def plugin(document: dict[str, Any], name: str, run: str = "run") -> dict[str, dict[int, Any]]:
    """Tag -> step -> point; the peers' ending of text tags is left out."""
    tags = document["runs"][run]["plugins"].get(name, {})
    return {tag.removesuffix("/text_summary"): {point["step"]: point for point in entry["points"]} for tag, entry in tags.items()}


def parameters(module: str, made: dict[str, Made]) -> list[tuple[str, str]]:
    return [(method, name) for method, names in made[module].report["signatures"].items() for name in names if method not in NOT_OURS]


@pytest.mark.parametrize("module", PEERS)
def test_every_method_and_argument_of_theirs_is_ours(made, module):
    ours = made[OURS].report["signatures"]
    missing = {f"{method}({name})" for method, name in parameters(module, made) if name not in ours.get(method, []) and name != "kwargs"}
    assert missing == set()


def test_arguments_given_by_position_mean_the_same_as_in_pytorch(made):
    """tensorboardX differs in four places; what it puts there is known by its type (see test_writer.py)."""
    ours = made[OURS].report["signatures"]
    for method, names in made["torch.utils.tensorboard"].report["signatures"].items():
        if method not in ("add_onnx_graph",):
            assert ours[method][: len(names)] == names, method


def test_all_calls_work(made):
    assert {name: said for name, said in made[OURS].report["said"].items() if said} == {}
    for module in PEERS:
        assert {name for name, said in made[module].report["said"].items() if said} == NOT_THERE[module]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("module", PEERS)
def test_scalars(shown, module, way):
    ours, theirs = (plugin(shown(name, way), "scalars") for name in (OURS, module))
    assert set(theirs) <= set(ours)
    for tag, points in theirs.items():
        assert list(points) == list(ours[tag])
        np.testing.assert_array_equal(*([views.number(p["value"]) for p in each.values()] for each in (points, ours[tag])))
    assert [point["wall_time"] for point in ours["at"].values()] == [writer_calls.WALL_TIME + step for step in writer_calls.STEPS]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("module", PEERS)
def test_fi5_add_scalars_gives_the_same_curves_in_one_run(shown, made, module, way):
    ours = plugin(shown(OURS, way), "scalars")
    for key in "ab":
        run = f"run/group_{key}" if module.startswith("torch") else f"run/group/{key}"
        theirs = plugin(shown(module, way), "scalars", run)["group"]
        assert [p["value"] for p in ours[f"group/{key}"].values()] == [p["value"] for p in theirs.values()]
    assert len(shown(OURS, way)["runs"]) == 1 + len(writer_calls.CHARTS)
    assert len(list((made[OURS].directory / "run").glob("*tfevents*"))) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("module", PEERS)
@pytest.mark.parametrize("tag", ["hist/bins", "hist/raw", "hist/default", "hist/rule"])
def test_histograms(shown, module, way, tag):
    """Those with given buckets have the same ones; all have the same number of values and the same ends."""
    for step in writer_calls.STEPS:
        ours, theirs = (rows(plugin(shown(name, way), "histograms")[tag][step]) for name in (OURS, module))
        assert ours[:, 2].sum() == theirs[:, 2].sum() == len(writer_calls.NORMAL[step])
        np.testing.assert_allclose([ours[0, 0], ours[-1, 1]], [theirs[0, 0], theirs[-1, 1]], rtol=0.1)
        if tag in ("hist/bins", "hist/raw"):
            np.testing.assert_allclose(ours[1:-1], theirs[1:-1], rtol=1e-5, atol=1e-6)


def rows(point: dict[str, Any]) -> np.ndarray:
    found = np.array([[views.number(number) for number in row] for row in point["buckets"]]).reshape(-1, 3)
    return found[found[:, 2] > 0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("module", PEERS)
def test_images_have_the_same_size(shown, module, way):
    ours, theirs = (plugin(shown(name, way), "images") for name in (OURS, module))
    assert set(theirs) <= set(ours)
    for tag in set(theirs) - {"video"}:
        assert [sizes(point) for point in theirs[tag].values()] == [sizes(point) for point in ours[tag].values()], tag


def sizes(point: dict[str, Any]) -> list[tuple[int, int]]:
    return [(image["width"], image["height"]) for image in point["images"]]


def test_a_video_plays_as_tensorboardx_has_it(made):
    """An animated PNG where that writes a GIF; PyTorch writes nothing with the current moviepy, and says nothing."""
    image = pytest.importorskip("PIL.Image")
    ours, theirs = (image.open(io.BytesIO(made[name].run.images("video")[0].value.encoded)) for name in (OURS, "tensorboardX"))
    assert (ours.n_frames, ours.size) == (theirs.n_frames, theirs.size) == (2, (8, 10))


@pytest.mark.parametrize("module", PEERS)
@pytest.mark.parametrize("tag", [*IMAGES, "image/figure"])
def test_images_have_the_same_pixels(made, module, tag):
    """Theirs round down where ours rounds to the nearest: one of 255 apart at most. A figure's are matplotlib's."""
    ours, theirs = (pixels(made[name].run.images(tag)) for name in (OURS, module))
    assert np.abs(ours - theirs).max() <= 1


def pixels(series: Any) -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    return np.stack([np.asarray(image.open(io.BytesIO(point.value.encoded)).convert("RGB"), np.int32) for point in series])


@pytest.mark.parametrize("module", PEERS)
def test_sounds_have_the_same_samples(made, module):
    ours, theirs = ([samples(point.value.data.flat[0]) for point in made[name].run.points("audio", "audio")] for name in (OURS, module))
    for (rate, mine), (their_rate, others) in zip(ours, theirs, strict=True):
        assert rate == their_rate == 8000
        assert np.abs(mine - others).max() <= 2


def samples(encoded: bytes) -> tuple[int, np.ndarray]:
    with wave.open(io.BytesIO(encoded)) as sound:
        return sound.getframerate(), np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.int32)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("module", PEERS)
def test_text(shown, module, way):
    ours, theirs = (plugin(shown(name, way), "text")["note"] for name in (OURS, module))
    for step in writer_calls.STEPS:
        if way == "http":
            assert f"<p><strong>step</strong> {step}</p>" in ours[step]["html"]
            assert f"<p><strong>step</strong> {step}</p>" in theirs[step]["html"]
        else:
            assert ours[step]["strings"] == theirs[step]["strings"] == [f"**step** {step}"]


@pytest.mark.parametrize("module", PEERS)
@pytest.mark.parametrize("tag", ["pr/curve", "pr/raw"])
def test_pr_curves(made, module, tag):
    ours, theirs = ([point.value.data for point in made[name].run.points("pr_curve", tag)] for name in (OURS, module))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("module", PEERS)
def test_pr_curves_are_shown(shown, module, way):
    ours, theirs = (plugin(shown(name, way), "pr_curves") for name in (OURS, module))
    assert {tag: list(points) for tag, points in ours.items()} == {tag: list(points) for tag, points in theirs.items()}


@pytest.mark.parametrize("module", PEERS)
def test_meshes(shown, module):
    ours, theirs = (parts(shown(name, "http")) for name in (OURS, module))
    assert set(ours) == set(theirs) == {(step, part) for step in writer_calls.STEPS for part in ("VERTEX", "FACE", "COLOR")}
    for place, shape in theirs.items():
        assert ours[place] == shape


def parts(document: dict[str, Any]) -> dict[tuple[int, str], Any]:
    points = document["runs"]["run"]["plugins"]["mesh"]["mesh"]["points"]
    return {(point["step"], point["content"]): (point["shape"], point["data"]) for point in points}


@pytest.mark.parametrize("module", PEERS)
def test_hparams_are_in_the_run_itself_and_compared_alike(shown, module):
    ours, theirs = (shown(name, "http")["hparams"] for name in (OURS, module))
    (mine,), (other,) = (found["session_groups"]["sessionGroups"] for found in (ours, theirs))
    assert mine["name"] == "run"
    assert mine["hparams"] == other["hparams"] == {"lr": 0.1, "net": "resnet", "layers": 18.0}
    assert [(m["name"], m["value"]) for m in mine["metricValues"]] == [(m["name"], m["value"]) for m in other["metricValues"]]
    assert mine["sessions"][0]["status"] == other["sessions"][0]["status"]
    assert ours["experiment"]["metricInfos"] == theirs["experiment"]["metricInfos"]
    assert sorted(map(str, ours["experiment"]["hparamInfos"])) == sorted(map(str, theirs["experiment"]["hparamInfos"]))


@pytest.mark.parametrize("module", PEERS)
def test_custom_scalars(shown, module):
    """Ours has one chart more: that of add_scalars."""
    ours, theirs = (charts(shown(name, "http")) for name in (OURS, module))
    assert ours.pop(("default", "group")) == {"title": "group", "multiline": {"tag": ["group/a$", "group/b$"]}}
    assert ours == theirs


def charts(document: dict[str, Any]) -> dict[tuple[str, str], Any]:
    categories = document["custom_scalars"]["category"]
    return {(category["title"], chart["title"]): chart for category in categories for chart in category["chart"]}


@pytest.mark.parametrize("module", PEERS)
def test_embeddings(shown, module):
    ours, theirs = (shown(name, "http")["projector"]["run"]["embeddings"] for name in (OURS, module))
    assert [(e["tensorName"], e["tensorShape"]) for e in ours] == [(e["tensorName"], e["tensorShape"]) for e in theirs]


@pytest.mark.parametrize("module", PEERS)
def test_every_page_that_they_open_is_open(shown, module):
    assert set(shown(module, "http")["active"]) <= set(shown(OURS, "http")["active"])


@pytest.mark.parametrize("module", PEERS)
def test_our_reader_reads_theirs_as_ours(made, module):
    """Every kind and tag that we give back of our files is there in theirs, read by the same names."""
    ours, theirs = made[OURS].run.tags(), made[module].run.tags()
    theirs["text"] = [tag.removesuffix("/text_summary") for tag in theirs["text"]]
    for kind in ("histogram", "audio", "text", "pr_curve"):
        assert ours[kind] == theirs[kind]


def test_signatures_are_those_of_this_process_too():
    """What the subprocess told is what a user's own process has."""
    told = writer_calls.signatures(SummaryWriter)
    assert [*inspect.signature(SummaryWriter.add_scalar).parameters][1:] == told["add_scalar"]
