"""``summarykit landscape``: what there is, one page, and a picture each."""

from __future__ import annotations

import numpy as np
import pytest
from testkit import surfaces
from testkit.browser import ask
from testkit.commands import strict_json

from summarykit import SummaryLandscape, SummaryRecord
from summarykit.cli.page import page
from summarykit.shapes import LossLandscape


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = surfaces.store(tmp_path_factory.mktemp("base") / "first", intervals=((1, 2, 3), (4, 5, 6)), landscape_size=5)
    SummaryLandscape(directory).gen_landscapes_with_multi_process(surfaces.double)
    return directory


def test_it_lists_what_there_is(cli, run):
    lines = cli("landscape", run).expect(0).out.splitlines()
    assert lines[0].split() == ["run", "tag", "directions", "points", "lowest", "highest", "path"]
    assert [line.split()[1:3] for line in lines[1:]] == [["landscape_[1,", "3]"], ["landscape_[4,", "6]"], ["landscape_[6]", "Random"]]
    assert lines[1].endswith("steps 1 … 3")


def test_json_has_every_number(cli, run):
    first, second, result = strict_json(cli("landscape", run, "--json").expect(0).out)
    surface = SummaryLandscape(run).interpolate(surfaces.double, 1, 6, points=3)
    assert (first["tag"], first["run"], first["unit"]) == ("landscape_[1, 3]", ".", "step")
    assert np.shape(first["z"]) == np.shape(first["metrics"]["Norm"]) == (5, 5)
    assert second["path"]["steps"] == [4, 5, 6]
    assert result["path"] is None
    assert surface.z.shape == (1, 3)


def test_it_draws_a_page_and_a_picture_each(cli, run, tmp_path):
    pytest.importorskip("matplotlib")
    answer = strict_json(cli("landscape", run, tmp_path / "out", "--json").expect(0).out)
    files = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert files == ["001.png", "002.png", "003.png", "landscape.html"]
    assert len(answer["written"]) == 4
    assert (tmp_path / "out/001.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "out/landscape.html").read_text("ascii")
    assert "http" not in text.replace("http-equiv", "")
    assert "landscape_[4, 6]" in text


def test_without_matplotlib_there_is_the_page_and_a_line_that_says_so(cli, run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    answer = cli("landscape", run, tmp_path / "out").expect(0)
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["landscape.html"]
    assert "no PNG pictures: LossSurface.plot() needs matplotlib.figure: pip install 'summarykit[plot]'" in answer.err


def test_one_of_several_may_be_chosen(cli, run):
    assert len(cli("landscape", run, "--tag", "landscape_[6]").expect(0).out.splitlines()) == 2
    assert "no landscapes here of that tag" in cli("landscape", run, "--tag", "none").expect(2).err


def test_a_run_without_landscapes_says_how_to_get_them(cli, tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    assert "no landscapes here; SummaryLandscape computes them" in cli("landscape", tmp_path).expect(2).err


def test_a_filled_directory_is_not_written_to(cli, run, tmp_path):
    (tmp_path / "mine").write_text("")
    assert "is not empty" in cli("landscape", run, tmp_path).expect(2).err


def test_ll7_losses_that_are_no_numbers_reach_the_page(cli, tmp_path):
    z = np.array([[np.nan, np.inf, 1.0], [1e30, -np.inf, 2.0]])
    with SummaryRecord(tmp_path / "run") as record:
        record.add_value("landscape", "</script>", LossLandscape(np.arange(3.0), np.arange(2.0), z))
        record.record(0)
    (found,) = strict_json(cli("landscape", tmp_path / "run", "--json").expect(0).out)
    np.testing.assert_array_equal(np.array(found["z"], float), z)
    cli("landscape", tmp_path / "run", tmp_path / "out").expect(0)
    assert (tmp_path / "out/landscape.html").read_text().count("</script>") == 2


def test_the_page_draws_in_a_browser(run, cli, tmp_path, browser):
    cli("landscape", run, tmp_path / "out").expect(0)
    drawn = """[...document.querySelectorAll("section canvas")].every(canvas => {
      const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(all.data.buffer)).size > 10;
    })"""
    script = 'return [document.body.textContent.includes("landscape_[1, 3]"), document.querySelectorAll("section canvas").length];'
    assert ask(browser, tmp_path / "out/landscape.html", script, ready=drawn) == "true,3"


def test_the_form_of_the_page_is_chosen():
    assert "marching squares" in page("t", {}, "landscape.html")
    assert "marching squares" not in page("t", {})
