"""``summarykit export``: every format gives every number back."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import building
from testkit.commands import strict_json

from summarykit import Run, SummaryRecord
from summarykit.cli.contents import contents
from summarykit.cli.sinks import SINKS
from summarykit.shapes import Blob, Embedding, Graph, Node, Plugin, Tensor, strings

FORMATS = ["csv", "json", "jsonl", "npz", "parquet"]


def need(form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")


def load(file, form: str) -> dict[str, list]:
    """A table, read by the reader that its format's users have, as columns; numbers as floats."""
    if form == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(file).to_pydict()
    if form == "npz":
        return {name: column.tolist() for name, column in np.load(file, allow_pickle=False).items()}
    text = file.read_bytes().decode()
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    else:
        rows = strict_json(text) if form == "json" else [strict_json(line) for line in text.rstrip("\n").split("\n")]
    return {name: [row[name] for row in rows] for name in rows[0]}


def lists(column: list) -> list[list[float]]:
    return [json.loads(cell) if isinstance(cell, str) else cell for cell in column]


@pytest.mark.parametrize("form", FORMATS)
def test_scalars_in_long_form(cli, base, tmp_path, form):
    need(form)
    answer = cli("export", base, tmp_path / "out", "--format", form).expect(0)
    rows = {"scalars": "1,200", "histograms": "20", "images": "20", "tensors": "20"}
    assert [row[:2] for row in answer.rows[1:]] == [[str(tmp_path / "out" / f"{kind}.{form}"), count] for kind, count in rows.items()]
    table = load(tmp_path / "out" / f"scalars.{form}", form)
    assert list(table) == ["run", "tag", "step", "wall_time", "value"]
    for name in ("baseline", "lr-2", "lr-10"):
        ours = Run(base / name).scalars("loss")
        chosen = [place for place, key in enumerate(zip(table["run"], table["tag"], strict=True)) if key == (name, "loss")]
        assert [int(table["step"][place]) for place in chosen] == ours.step.tolist()
        np.testing.assert_array_equal([float(table["value"][place]) for place in chosen], ours.value)
        np.testing.assert_array_equal([float(table["wall_time"][place]) for place in chosen], ours.wall_time)


@pytest.mark.parametrize("form", FORMATS)
def test_heavy_kinds(cli, base, tmp_path, form):
    need(form)
    out = tmp_path / "out"
    cli("export", base, out, "--format", form).expect(0)
    run = Run(base / "baseline")
    histograms = load(out / f"histograms.{form}", form)
    np.testing.assert_array_equal(lists(histograms["edges"]), [point.value.edges for point in run.histograms("weight")])
    np.testing.assert_array_equal(lists(histograms["counts"]), [point.value.counts for point in run.histograms("weight")])
    assert [float(value) for value in histograms["sum"]] == [point.value.sum for point in run.histograms("weight")]
    tensors = load(out / f"tensors.{form}", form)
    assert (tensors["dtype"][0], lists(tensors["shape"])[0]) == ("float64", [2, 3])
    for step, path in zip(tensors["step"], tensors["path"], strict=True):
        array = np.load(out / path, allow_pickle=False)
        np.testing.assert_array_equal(array, run.tensors("logits").at(int(step))[:])
    images = load(out / f"images.{form}", form)
    assert lists(images["shape"])[0] == [5, 7, 3]
    for path, point in zip(images["path"], run.images("input"), strict=True):
        assert (out / path).read_bytes() == point.value.encoded
        assert path.endswith(f"_step_{point.step}.png")


@pytest.mark.parametrize("form", FORMATS)
def test_one_file_of_scalars(cli, base, tmp_path, form):
    need(form)
    file = tmp_path / f"loss.{form}"
    answer = cli("export", base, file, "--tag", "loss", "--json").json
    assert answer["written"] == [{"file": str(file), "kind": "scalar", "rows": 600, "files": 0, "bytes": file.stat().st_size}]
    assert set(load(file, form)["tag"]) == {"loss"}
    cli("export", base, file, "--run", "lr-2").expect(0)    # again: a file of that name is replaced
    assert set(load(file, form)["run"]) == {"lr-2"}


def test_fl3_20000_points_are_all_there(cli, tmp_path):
    """FL3: nothing is sampled."""
    building.file(tmp_path / "run", "mindspore", [building.scalar("loss", step, step / 7) for step in range(20_000)], session="a" * 32)
    cli("export", tmp_path / "run", tmp_path / "loss.csv").expect(0)
    table = load(tmp_path / "loss.csv", "csv")
    assert [float(value) for value in table["value"]] == [step / 7 for step in range(20_000)]


def test_pandas_reads_the_csv(cli, base, tmp_path):
    pandas = pytest.importorskip("pandas")
    cli("export", base, tmp_path / "loss.csv", "--tag", "loss").expect(0)
    frame = pandas.read_csv(tmp_path / "loss.csv")
    assert frame["value"].dtype == np.float64
    assert frame["value"].isna().sum() == 10


def test_wrong_arguments(cli, base, tmp_path):
    cli("export", base, tmp_path / "x.csv", "--format", "json").expect_error("ends in .csv, but --format is json")
    cli("export", base, tmp_path / "x.csv", "--kind", "image").expect_error("no scalars to export into one file")
    cli("export", base, tmp_path / "events.tfevents.csv").expect_error("is named like a summary file")
    cli("export", base, tmp_path / "absent" / "x.csv").expect_error("No such file or directory")
    (tmp_path / "folder.csv").mkdir()
    cli("export", base, tmp_path / "folder.csv").expect_error("is a directory")
    cli("export", base, tmp_path / "out", "--tag", "losss").expect_error("no tag 'losss'")
    assert not (tmp_path / "out").exists()


def test_parquet_without_pyarrow_tells_what_to_install(cli, base, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    cli("export", base, tmp_path / "x.parquet").expect_error("pip install 'summarykit[arrow]'")


def test_tags_never_become_file_names(cli, tmp_path):
    """A tag may be what no file system takes."""
    tags = ["../../etc/passwd", "a/b", "x" * 300, ".", "con", "nul\n"]
    with SummaryRecord(tmp_path / "run") as record:
        for tag in tags:
            record.add_value("tensor", tag, np.arange(3))
        record.record(-5)
    cli("export", tmp_path / "run", tmp_path / "out").expect(0)
    names = sorted(file.name for file in (tmp_path / "out" / "tensors").iterdir())
    assert names == [f"00000{number}_step_-5.npy" for number in range(1, 7)]
    assert sorted(load(tmp_path / "out" / "tensors.csv", "csv")["tag"]) == sorted(tags)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["tensors", "tensors.csv"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=10)


@pytest.mark.parametrize("form", FORMATS)
@given(
    values=st.lists(st.floats(), min_size=1, max_size=20),
    text=st.sampled_from(["\r", "\n", '","', " nan"]) | TEXTS,
)
def test_any_number_and_any_text_come_back(form, values, text, tmp_path_factory):
    need(form)
    file = tmp_path_factory.mktemp("sink") / f"x.{form}"
    sink = SINKS[form](file)
    for piece in (values, values[:1]):
        rows = len(piece)
        sink.write({"run": [text] * rows, "step": np.arange(rows), "value": np.array(piece), "list": [[1.5, math.inf]] * rows})
    sink.close()
    table = load(file, form)
    assert set(table["run"]) == {text}
    assert [repr(float(value)) for value in table["value"]] == [repr(value) for value in [*values, values[0]]]
    assert [[float(each) for each in row] for row in lists(table["list"])] == [[1.5, math.inf]] * (len(values) + 1)


def test_several_pictures_in_one_value_are_several_files():
    assert contents(Tensor(strings(b"8", b"12", b"\x89PNG1", b"GIF8"), "string")) == [(b"\x89PNG1", "png"), (b"GIF8", "gif")]
    assert contents(Tensor(strings(b"text", b"more"), "string")) == [(b"text", "bin"), (b"more", "bin")]


def test_every_other_shape_has_files():
    assert contents(Plugin("mesh", np.zeros(3, np.float32)))[0].ending == "npy"
    assert contents(Plugin("hparams", np.empty(0, np.uint8), b"all")) == [(b"all", "bin")]
    assert contents(Embedding({"tensors.tsv": b"1\t2", "sprite.png": b"x"}, (1, 2))) == [(b"1\t2", "tsv"), (b"x", "png")]
    assert contents(Blob("lineage", b"x")) == [(b"x", "bin")]
    graph, ending = contents(Graph((Node("a/b", "Conv2d", attributes={"stride": 2}),), "net"))[0]
    assert ending == "json"
    assert strict_json(graph.decode())["nodes"][0]["attributes"] == {"stride": 2}


@pytest.mark.shared
def test_everything_in_the_files_of_others(cli, shared, tmp_path):
    written = {each["kind"]: each for each in cli("export", shared / "data", tmp_path / "out", "--json").json["written"]}
    assert written.keys() == {"scalar", "histogram", "image", "tensor", "other"}
    assert {file.suffix for file in (tmp_path / "out" / "images").iterdir()} == {".png"}
    assert {file.suffix for file in (tmp_path / "out" / "others").iterdir()} >= {".bin", ".wav", ".npy"}
    assert written["scalar"]["rows"] == 623
