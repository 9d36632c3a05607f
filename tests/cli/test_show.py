"""``summarykit show``: tags, comparison of scalars, description of everything else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from testkit import building

from summarykit import SummaryRecord
from summarykit.cli.compare import curve
from summarykit.cli.describe import bars, describe
from summarykit.shapes import Blob, Embedding, Graph, Histogram, Image, Node, Plugin, Scalar, Tensor, strings


def test_without_a_tag_all_tags_are_listed(cli, base):
    header, *rows = cli("show", base).expect(0).rows
    assert header == ["kind", "tag", "runs", "points", "first step", "last step", "last value"]
    assert [row[:6] for row in rows[:3]] == [
        ["scalar", "learning_rate", "3", "600", "1", "200"],
        ["scalar", "loss", "3", "600", "1", "200"],
        ["histogram", "weight", "1", "20", "10", "200"],
    ]
    assert rows[1][6] == "0.005 … 0.015"
    assert rows[2][6].startswith("500 values in -")
    assert rows[3][6].startswith("7×5 RGB PNG, ")
    assert rows[4][6] == "float64 2×3 in 200 … 205, mean 202"


def test_of_one_run_the_last_value_stands_there(cli, base):
    header, *rows = cli("show", base / "lr-2").expect(0).rows
    assert "runs" not in header
    assert rows[1] == ["scalar", "loss", "200", "1", "200", "0.01"]


def test_json_without_a_tag(cli, base):
    runs = cli("show", base, "--json").json["runs"]
    assert [run["run"] for run in runs] == ["baseline", "lr-2", "lr-10"]
    tags = {each["tag"]: each for each in runs[0]["tags"]}
    assert tags["loss"] == {"kind": "scalar", "tag": "loss", "points": 200, "first_step": 1, "last_step": 200, "last_value": 1 / 200}
    assert tags["logits"]["last_value"]["shape"] == [2, 3]
    assert sum(tags["weight"]["last_value"]["counts"]) == 500


def test_scalars_are_compared_over_runs(cli, base):
    title, header, *rows = cli("show", base, "--tag", "loss").expect(0).rows
    assert title == ["loss"]
    assert header == ["run", "points", "last step", "last", "min", "at step", "max", "at step", "mean", "not finite", "curve"]
    assert rows[0][:8] == ["baseline", "200", "200", "0.005", "0.005", "200", "1", "1"]
    assert rows[1][:8] == ["lr-2", "200", "200", "0.01", "0.01", "200", "2", "1"]
    assert rows[1][9] == "10"
    assert rows[0][-1].startswith("█")
    assert len(rows[0][-1]) == 20


def test_json_has_every_point_exactly(cli, base):
    series = cli("show", base, "--tag", "loss", "--json").json["series"]
    assert [each["run"] for each in series] == ["baseline", "lr-2", "lr-10"]
    assert series[0]["step"] == list(range(1, 201))
    assert series[0]["value"] == [1 / step for step in range(1, 201)]
    assert series[1]["value"][48:60] == [2 / 49, *["NaN"] * 10, 2 / 60]
    assert [float(value) for value in series[1]["value"]][2] == 2 / 3
    assert len(series[2]["wall_time"]) == 200


def test_fl3_20000_points_come_back_whole(cli, tmp_path):
    """FL3: nothing is sampled in data that is given out."""
    building.file(tmp_path, "mindspore", [building.scalar("loss", step, step) for step in range(20_000)], session="a" * 32)
    (series,) = cli("show", tmp_path, "--tag", "loss", "--json").json["series"]
    assert series["value"] == [float(step) for step in range(20_000)]


def test_the_last_steps_one_by_one(cli, base):
    _, header, *rows = cli("show", base, "--tag", "loss", "--last", 3).expect(0).rows
    assert header == ["step", "baseline", "lr-2", "lr-10"]
    assert [row[0] for row in rows] == ["198", "199", "200"]
    assert rows[0] == ["198", "0.00505051", "0.010101", "0.0151515"]
    series = cli("show", base, "--tag", "loss", "--last", 3, "--json").json["series"]
    assert [each["step"] for each in series] == [[198, 199, 200]] * 3


def test_a_run_without_a_step_has_a_dash_there(cli, tmp_path):
    building.file(tmp_path / "a", "mindspore", [building.scalar("loss", step, 1) for step in (1, 2)], session="a" * 32)
    building.file(tmp_path / "b", "mindspore", [building.scalar("loss", step, 2) for step in (2, 3)], session="b" * 32)
    assert cli("show", tmp_path, "--tag", "loss", "--last", 9).expect(0).rows[2:] == [["1", "1", "-"], ["2", "1", "2"], ["3", "-", "2"]]


def test_a_pattern_chooses_tags(cli, base):
    assert {each["tag"] for each in cli("show", base, "--tag", "l*", "--json").json["series"]} == {"loss", "learning_rate", "logits"}
    kinds = {each["kind"] for each in cli("show", base, "--tag", "l*", "--kind", "tensor", "--json").json["series"]}
    assert kinds == {"tensor"}


def test_a_tag_that_looks_like_a_pattern_is_itself(cli, tmp_path):
    points = [building.scalar(tag, 1, number) for number, tag in enumerate(("a[0]", "a*", "ab"))]
    building.file(tmp_path, "mindspore", points, session="a" * 32)
    for tag in ("a[0]", "a*"):
        assert [each["tag"] for each in cli("show", tmp_path, "--tag", tag, "--json").json["series"]] == [tag]
    assert len(cli("show", tmp_path, "--tag", "a?", "--json").json["series"]) == 2


def test_an_unknown_tag_is_told_what_is_alike(cli, base):
    cli("show", base, "--tag", "los").expect_error("no tag 'los'; there are 'loss'")
    cli("show", base, "--tag", "loss", "--kind", "image").expect_error("no image tag 'loss'; there are 'input'")
    cli("show", base, "--kind", "audio").expect_error("no audio in these runs; there are scalar, histogram, image, tensor")


def test_histograms_are_drawn_over_one_range(cli, base):
    title, told, header, *rows = cli("show", base, "--tag", "weight").expect(0).rows
    assert title == ["weight (histogram)"]
    assert told == ["10 of 20 points (--last N or --json give more)"]
    assert (header[0], header[-1]) == ("step", "value")
    assert [int(row[0]) for row in rows] == list(range(20, 201, 20))
    shape = next(line for line in cli("show", base, "--tag", "weight", "--last", 1).out.splitlines() if "▕" in line)
    assert len(shape[shape.index("▕") : shape.index("▏") + 1]) == 34
    assert "500 values in" in shape


def test_tensors_and_images_are_described(cli, base):
    assert cli("show", base, "--tag", "logits", "--last", 1).expect(0).rows[-1] == ["200", "float64 2×3 in 200 … 205, mean 202"]
    assert cli("show", base, "--tag", "input", "--last", 1).expect(0).rows[-1][1].startswith("7×5 RGB PNG, ")
    (series,) = cli("show", base, "--tag", "logits", "--last", 1, "--json").json["series"]
    assert series["value"][0] | {"std": 0} == {
        "dtype": "float64", "shape": [2, 3], "min": 200.0, "max": 205.0, "mean": 202.5, "std": 0, "nan": 0, "inf": 0, "zeros": 0,
    }  # fmt: skip


def test_va5_values_that_are_not_finite_are_told(cli, tmp_path):
    """VA5: a histogram and a tensor of NaN and infinities."""
    with SummaryRecord(tmp_path) as record:
        record.add_value("histogram", "h", np.array([math.nan, math.inf, 1.0]))
        record.add_value("tensor", "t", np.array([math.nan, -math.inf]))
        record.add_value("histogram", "nothing", np.array([math.nan]))
        record.record(1)
    out = cli("show", tmp_path).expect(0).out
    assert "3 values in 1 … 1, mean 1, 1 NaN, 1 ±Inf" in out
    assert "float64 2, 1 NaN, 1 ±Inf" in out
    assert "1 value, 1 NaN" in out
    assert "1 value, 1 NaN" in cli("show", tmp_path, "--tag", "nothing").expect(0).out
    cli("show", tmp_path, "--tag", "*", "--json").json    # noqa: B018  # it parses


def test_scalars_without_a_finite_value(cli, tmp_path):
    building.file(tmp_path, "mindspore", [building.scalar("loss", step, math.nan) for step in range(3)], session="a" * 32)
    assert cli("show", tmp_path, "--tag", "loss").expect(0).rows[-1] == ["3", "2", "NaN", "3"]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (Scalar(1e300), "1e+300"),
        (Histogram(np.empty(0), np.empty(0, np.int64)), "0 values"),
        (Tensor(np.array(3, np.float32), "bfloat16"), "bfloat16 single value in 3 … 3, mean 3"),
        (Tensor(np.empty((0, 4), np.int8), "int8"), "int8 0×4"),
        (Tensor(np.array([[1 + 2j]]), "complex128"), "complex128 1×1"),
        (Tensor(strings(b"hello\nworld"), "string"), "string 'hello world'"),
        (Tensor(strings(b"\xff\x00", b"b"), "string"), "2 string, bytes: 2 B"),
        (Image(1, 2, 1, b"\xff\xd8\xff"), "2×1 grey JPEG, 3 B"),
        (Plugin("text", strings(b"a  b\n"), b""), "string 'a b'"),
        (Plugin("hparams", np.empty(0, np.uint8), b"x" * 7), "7 B of hparams"),
        (Plugin("mesh", np.ones((1, 2, 3))), "float64 1×2×3 in 1 … 1, mean 1"),
        (Graph((Node("a", "Conv2d"),), "net"), "1 node net"),
        (Embedding({}, (5, 3)), "5 vectors of 3"),
        (Blob("lineage", b"x" * 1234), "1.2 kB of lineage"),
        (object(), "object"),
    ],
)
def test_descriptions(value, line):
    assert describe(value).line == line


def test_bars():
    assert bars(np.array([0.0, 1.0, 8.0, 1e-9, math.nan])) == " ▁█▁ "
    assert bars(np.zeros(3)) == "   "


@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0], [math.nan], [-1e308, 1e308], [math.inf, 1.0], [0.0] * 1000])
def test_a_curve_of_anything(values):
    with np.errstate(all="raise"):
        assert 1 <= len(curve(_Scalars(values))) <= 20


def test_a_curve_shows_gaps():
    assert curve(_Scalars([1.0, math.nan, 3.0])) == "▁ █"


class _Scalars:
    def __init__(self, values):
        self.value = np.array(values)

    def __len__(self):
        return len(self.value)


@pytest.mark.shared
def test_everything_in_the_files_of_others_is_shown(cli, shared):
    cli("show", shared / "data").expect(0)
    cli("show", shared / "data", "--tag", "*").expect(0)
    assert len(cli("show", shared / "data", "--tag", "*", "--json").json["series"]) > 50
