"""The real viewers judge a run of ours: every value they show is the one that was recorded."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testkit import records, views

from summarykit import Run, SummaryRecord

pytestmark = [pytest.mark.viewers, pytest.mark.shared]
STEPS = range(1, 6)
RNG = np.random.default_rng(7)

SCALARS = {
    "loss": [2.5, 1.25, 0.1, 1e-3, 1e-45],
    "special": [float("nan"), float("inf"), float("-inf"), 1e39, 1234567.890123],
    "whole": [16777217, -0.0, 2**53, -1, True],
    "训练/损失 %a:b": [np.float16(0.1), np.float32(0.1), np.float64(0.1), np.int64(7), np.uint8(255)],
}
HISTOGRAMS = {
    "normal": [RNG.normal(size=10_000).astype("f4") * step for step in STEPS],
    "constant": [np.full(10, 0.1) for _ in STEPS],
    "with_nan": [np.array([1, 2, np.nan, np.inf, -np.inf, 3.5, step]) for step in STEPS],
    "all_nan": [np.full(5, np.nan) for _ in STEPS],
    "empty": [np.zeros(0, "f4") for _ in STEPS],
    "integers": [RNG.integers(-1000, 1000, 500) for _ in STEPS],
    "bools": [np.array([True, False, True]) for _ in STEPS],
    "huge": [np.array([-8e307, 8e307, 0.0]) for _ in STEPS],
    "beyond": [np.array([1.0, 2.0, 3.0]) * (1 if step == 3 else 5e307) * (-1) ** (step + 1) for step in STEPS],
}
IMAGES = {
    "colour": [RNG.integers(0, 256, (8, 12, 3), dtype="u1") for _ in STEPS],
    "unit": [RNG.random((6, 5, 3), dtype="f4") for _ in STEPS],
    "grey": [RNG.integers(0, 256, (7, 9), dtype="u1") for _ in STEPS],
    "batch": [RNG.integers(0, 256, (4, 6, 6, 3), dtype="u1") for _ in STEPS],
}
# MindInsight keeps six tags of tensors a run.
TENSORS = {
    "float32": [RNG.normal(size=(2, 3, 4)).astype("f4") for _ in STEPS],
    "int64": [RNG.integers(-(2**20), 2**20, (3, 5)) for _ in STEPS],
    "bool": [RNG.random((4, 2)) > 0.5 for _ in STEPS],
    "float16": [np.array([[0.1, np.nan, np.inf], [1, -2, step]], "f2") for step in STEPS],
    "uint8": [RNG.integers(0, 256, 6, dtype="u1") for _ in STEPS],
    "float64": [np.array([0.5, 0.25 * step]) for step in STEPS],
}
RECORDED = {
    (kind, tag): dict(zip(STEPS, series, strict=True))
    for kind, tags in (("scalar", SCALARS), ("histogram", HISTOGRAMS), ("image", IMAGES), ("tensor", TENSORS))
    for tag, series in tags.items()
}
WAYS = ["mindinsight python", "mindinsight rest", "tensorboard python", "tensorboard rust", "tensorboard http"]
# No page of TensorBoard's web server shows a tensor, and the null that MindInsight's server sends stands for every non-finite number.
SHOWN = {"tensorboard http": {"scalar", "histogram", "image"}}


@pytest.fixture(scope="module")
def began() -> float:
    return time.time()


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory, began: float) -> Path:
    """A run with every kind of value, recorded the way a user does it."""
    directory = tmp_path_factory.mktemp("run")
    with SummaryRecord(str(directory)) as record:
        for step in STEPS:
            for (kind, tag), series in RECORDED.items():
                record.add_value(kind, tag, series[step])
            assert record.record(step)
    assert not record.stats()["dropped"], record.stats()
    return directory


@pytest.fixture(scope="module")
def view(run_dir: Path, mindinsight_client: Callable[..., Any], tensorboard_client: Callable[..., Any]) -> Callable[[str], views.View]:
    """What one viewer shows of that run; each is asked once."""
    known: dict[str, views.View] = {}

    def ask(way: str) -> views.View:
        if way not in known:
            viewer, access = way.split()
            if viewer == "mindinsight":
                verdict = mindinsight_client(run_dir, *(["--rest"] if access == "rest" else []))
                known[way] = views.mindinsight(verdict.expect_sound())
            else:
                known[way] = views.tensorboard(tensorboard_client(run_dir, access).expect_sound())
        return known[way]

    return ask


def test_every_file_passes_an_independent_walk(run_dir):
    found = records.check_directory(run_dir)
    assert len(found) == 2
    assert all(count > len(STEPS) * len(RECORDED) for count in found.values())


@pytest.mark.parametrize("way", WAYS)
def test_all_tags_and_steps_are_there_and_no_other(view, way):
    shown = SHOWN.get(way, {"scalar", "histogram", "image", "tensor"})
    assert views.steps(view(way)) == {series: list(STEPS) for series in RECORDED if series[0] in shown}


@pytest.mark.parametrize("way", WAYS)
def test_wall_times_are_those_of_the_calls(view, way, began):
    times = [point["wall_time"] for series in view(way).values() for point in series.values()]
    assert began - 1 <= min(times) <= max(times) <= time.time()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tag", SCALARS)
def test_scalars(view, way, tag):
    seen = [views.number(view(way)["scalar", tag][step]["value"]) for step in STEPS]
    with np.errstate(over="ignore"):
        wanted = np.array(SCALARS[tag], "f8").astype("f4").astype("f8")
    if way == "mindinsight rest":
        wanted[~np.isfinite(wanted)] = np.nan
    np.testing.assert_array_equal(seen, wanted)


def counted(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many of the finite values lie between the edges."""
    finite = np.asarray(values, "f8").ravel()
    finite = finite[np.isfinite(finite)]
    return np.histogram(finite, edges)[0] if len(finite) else np.zeros(max(len(edges) - 1, 0))


def drawn(values: np.ndarray) -> np.ndarray:
    """The finite values, where MindInsight can calculate with their range; it is shown none of the others."""
    finite = np.asarray(values, "f8")[np.isfinite(np.asarray(values, "f8"))]
    return finite[:0] if np.abs(finite).max(initial=0) > 9e307 else finite


@pytest.mark.parametrize("tag", HISTOGRAMS)
def test_histograms_in_mindinsight(view, tag):
    for step, values in RECORDED["histogram", tag].items():
        seen = view("mindinsight python")["histogram", tag][step]
        finite = drawn(values)
        buckets = np.array(seen["written_buckets"], "f8").reshape(-1, 3)
        assert seen["count"] == len(finite)
        assert buckets[:, 2].sum() == len(finite)
        assert (seen["min"], seen["max"]) == ((finite.min(), finite.max()) if len(finite) else (0, 0))
        assert np.all(np.diff(buckets[:, 0]) > 0)
        if len(finite):
            edges = np.append(buckets[:, 0], buckets[-1, 0] + buckets[-1, 1])
            assert edges[0] <= finite.min()
            assert edges[-1] >= finite.max() * (1 - 1e-12)
            assert_same_counts(buckets[:, 2], counted(values, edges))


@pytest.mark.parametrize("tag", HISTOGRAMS)
def test_histograms_in_mindinsight_over_http(view, tag):
    """Its server shows buckets sampled anew over a range common to all steps, each count rounded up."""
    for step, values in RECORDED["histogram", tag].items():
        buckets = view("mindinsight rest")["histogram", tag][step]["buckets"]
        finite = len(drawn(values))
        assert finite <= sum(count for _, _, count in buckets) <= finite + len(buckets)


@pytest.mark.parametrize("way", ["tensorboard python", "tensorboard rust", "tensorboard http"])
@pytest.mark.parametrize("tag", HISTOGRAMS)
def test_histograms_in_tensorboard(view, way, tag):
    """Its Python loader keeps edges and counts as float32."""
    for step, values in RECORDED["histogram", tag].items():
        buckets = np.array([[views.number(n) for n in row] for row in view(way)["histogram", tag][step]["buckets"]]).reshape(-1, 3)
        finite = np.asarray(values, "f8")[np.isfinite(np.asarray(values, "f8"))]
        assert buckets[:, 2].sum() == len(finite)
        filled = buckets[buckets[:, 2] > 0]
        if len(finite) and np.abs(finite).max() < 1e38:
            assert filled[0, 0] <= finite.min() + 1e-6 * abs(finite.min())
            assert filled[-1, 1] >= finite.max() - 1e-6 * abs(finite.max())
            assert_same_counts(np.cumsum(filled[:, 2]), np.searchsorted(np.sort(finite), filled[:, 1], "right"))


def test_va12_a_range_beyond_what_mindinsight_can_draw_is_whole_in_our_reader(run_dir):
    found = {point.step: point.value for point in Run(str(run_dir)).histograms("beyond")}
    for step, values in RECORDED["histogram", "beyond"].items():
        shape = found[step]
        assert (shape.min, shape.max, shape.count) == (values.min(), values.max(), 3)
        np.testing.assert_array_equal(shape.counts, counted(values, shape.edges))


def assert_same_counts(seen: np.ndarray, wanted: np.ndarray) -> None:
    """Rounded edges may move a value that lies on one into the neighbouring bucket: one in a thousand at most."""
    total = max(wanted.sum(), 1)
    assert np.abs(seen - wanted).sum() <= max(2, total / 1000), (seen, wanted)


@pytest.fixture(scope="module")
def pictures(run_dir: Path) -> dict[tuple[str, int], bytes]:
    """The PNG files that our reader gives back."""
    run = Run(str(run_dir))
    return {(tag, step): run.images(tag).at(step).value.encoded for tag in IMAGES for step in STEPS}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tag", IMAGES)
def test_images_are_the_same_file_in_every_viewer(view, way, tag, pictures):
    for step in STEPS:
        point = view(way)["image", tag][step]
        (seen,) = point.get("images", [point])
        assert seen["sha256"] == hashlib.sha256(pictures[tag, step]).hexdigest()
        assert seen["format"] == "png"


@pytest.mark.parametrize("tag", IMAGES)
def test_images_have_the_recorded_pixels(tag, pictures):
    image = pytest.importorskip("PIL.Image")
    for step, recorded in RECORDED["image", tag].items():
        seen = np.asarray(image.open(io.BytesIO(pictures[tag, step])))
        wanted = np.rint(recorded.astype("f8") * 255).astype("u1") if recorded.dtype.kind == "f" else recorded
        if tag == "batch":    # every picture of the batch is somewhere in the grid
            assert all(tile(seen, one) for one in wanted)
        else:
            np.testing.assert_array_equal(seen.reshape(wanted.shape), wanted)


def tile(grid: np.ndarray, picture: np.ndarray) -> bool:
    rows, columns = picture.shape[:2]
    places = ((y, x) for y in range(grid.shape[0] - rows + 1) for x in range(grid.shape[1] - columns + 1))
    return any(np.array_equal(grid[y : y + rows, x : x + columns], picture) for y, x in places)


@pytest.mark.parametrize("way", WAYS[:4])
@pytest.mark.parametrize("tag", TENSORS)
def test_tensors(view, way, tag):
    for step, recorded in RECORDED["tensor", tag].items():
        seen = view(way)["tensor", tag][step]
        if way.startswith("mindinsight"):    # reads float32 whatever the dtype
            wanted = views.digest(recorded.astype("f4"), str)
            assert (seen["dims"], seen["digest"]["count"], seen["digest"]["sha256"]) == (list(recorded.shape), recorded.size, wanted)
        else:
            wanted = views.digest(recorded, repr)
            assert (seen["dtype"], seen["shape"], seen["values"]["sha256"]) == (tag, list(recorded.shape), wanted)


def test_both_files_hold_the_same_points(view):
    """The two viewers read different files: what one shows, the other shows for the same step and time."""
    left, right = view("mindinsight python"), view("tensorboard python")
    assert {s: {k: p["wall_time"] for k, p in left[s].items()} for s in left} == {
        s: {k: p["wall_time"] for k, p in right[s].items()} for s in right
    }


@pytest.mark.parametrize("only", ["mindspore", "tensorboard"])
def test_one_format_alone(tmp_path, only, mindinsight_client, tensorboard_client):
    with SummaryRecord(str(tmp_path), formats=(only,)) as record:
        for step in STEPS:
            record.add_value("scalar", "loss", step / 7)
            record.record(step)
    assert len(records.check_directory(tmp_path)) == 1
    client, form = (mindinsight_client, views.mindinsight) if only == "mindspore" else (tensorboard_client, views.tensorboard)
    other = tensorboard_client if only == "mindspore" else mindinsight_client
    seen = form(client(tmp_path).expect_sound())
    assert [seen["scalar", "loss"][step]["value"] for step in STEPS] == [float(np.float32(step / 7)) for step in STEPS]
    assert other(tmp_path).status == 2    # nothing there that it would take for its own
