"""``summarykit show --html``: one page that loads nothing and survives hostile names."""

from __future__ import annotations

import html.parser
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from testkit import building
from testkit.browser import ask
from testkit.commands import strict_json

from summarykit import SummaryRecord
from summarykit.cli.page import page
from summarykit.reading.thinning import thin

HOSTILE = ["</script><script>document.title = 'broken'</script>", "<!--", "\"'&quot;", "\u2028\u2029", "@DATA@", "漢字 \x1b[0m", "<b>0</b>"]


class Elements(html.parser.HTMLParser):
    """Elements, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = ["document"]
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.setdefault(self.names[-1], []).append(data)


def data_of(file: Path) -> dict:
    elements = Elements(file.read_text(encoding="ascii"))
    assert elements.names.count("script") == 2
    return strict_json(elements.texts["script"][0])


@pytest.fixture
def written(cli, base, tmp_path) -> Path:
    answer = cli("show", base, "--html", tmp_path / "curves.html").expect(0)
    assert answer.out.startswith(f"{tmp_path / 'curves.html'}: 2 charts of 3 runs, ")
    return tmp_path / "curves.html"


def test_it_holds_all_scalars_of_all_runs(written):
    data = data_of(written)
    assert data["runs"] == ["baseline", "lr-2", "lr-10"]
    assert [chart["tag"] for chart in data["charts"]] == ["learning_rate", "loss"]
    for run, curve in enumerate(data["charts"][1]["curves"]):
        assert curve["run"] == run
        assert curve["points"] == 200
        assert curve["step"] == list(range(1, 201))
        np.testing.assert_allclose([float(value) for value in curve["value"] if value != "NaN"],
                                   [(run + 1) / step for step in range(1, 201) if run != 1 or not 50 <= step < 60], rtol=1e-8)  # fmt: skip
        assert curve["time"] == sorted(curve["time"])
    assert [value for value in data["charts"][1]["curves"][1]["value"] if isinstance(value, str)] == ["NaN"] * 10


def test_it_refers_to_nothing_outside(written):
    text = written.read_text(encoding="ascii")
    elements = Elements(text)
    assert {name for name, _ in elements.attributes} & {"src", "href", "srcset", "action", "data", "poster"} == set()
    assert not re.search(r"https?:|//[a-z]|url\(|@import|\bfetch\b|XMLHttpRequest|WebSocket|\bimport\b", text)
    assert "default-src 'none'" in text
    assert {"link", "img", "iframe", "object", "embed", "base"} & set(elements.names) == set()


def test_tags_choose_curves(cli, base, tmp_path):
    cli("show", base, "--tag", "loss", "--run", "lr-*", "--last", 5, "--html", tmp_path / "x.html").expect(0)
    data = data_of(tmp_path / "x.html")
    assert data["runs"] == ["lr-2", "lr-10"]
    assert [[curve["step"] for curve in chart["curves"]] for chart in data["charts"]] == [[[196, 197, 198, 199, 200]] * 2]


def test_long_curves_are_thinned_and_the_page_says_so(cli, tmp_path):
    values = np.random.default_rng(0).normal(size=30_000)
    values[[12_345, 23_456]] = 99, -99
    values[20_000] = math.nan
    building.file(tmp_path / "run", "mindspore", [building.scalar("loss", *pair) for pair in enumerate(values)], session="a" * 32)
    cli("show", tmp_path / "run", "--html", tmp_path / "x.html").expect(0)
    data = data_of(tmp_path / "x.html")
    (curve,) = data["charts"][0]["curves"]
    assert curve["points"] == 30_000
    assert 1000 < len(curve["step"]) <= data["limit"] == 4000
    assert {0, 12_345, 20_000, 23_456, 29_999} <= set(curve["step"])
    assert "are thinned for drawing" in (tmp_path / "x.html").read_text()


def test_many_curves_share_the_page(cli, tmp_path):
    points = [building.scalar(f"tag{tag}", step, step) for tag in range(300) for step in range(10)]
    building.file(tmp_path / "run", "mindspore", points, session="a" * 32)
    cli("show", tmp_path / "run", "--html", tmp_path / "x.html").expect(0)
    assert data_of(tmp_path / "x.html")["limit"] == 1_000_000 // 300


def test_what_cannot_be_drawn_or_written_is_an_error(cli, base, tmp_path):
    cli("show", base, "--kind", "image", "--html", tmp_path / "x.html").expect_error("no scalars to draw; there are")
    cli("show", base, "--html", tmp_path).expect_error("is a directory")
    cli("show", base, "--html", tmp_path / "absent" / "x.html").expect_error("No such file or directory")
    file = next((base / "baseline").iterdir())
    before = file.read_bytes()
    cli("show", base, "--html", file).expect_error("is named like a summary file")
    assert file.read_bytes() == before


@given(st.text())
@example("".join(HOSTILE))
def test_no_text_ends_the_element_it_stands_in(text):
    content = {"title": text, "runs": [text], "charts": [{"tag": text, "curves": []}]}
    elements = Elements(page(text, content))
    assert elements.names.count("script") == 2
    assert strict_json(elements.texts["script"][0]) == content
    assert "".join(elements.texts.get("title", [])).split() == text.split() or not text.isprintable()


@given(st.lists(st.floats(), max_size=3000), st.integers(5, 300))
def test_thin_keeps_what_the_eye_sees(values, limit):
    array = np.array(values)
    kept = thin(array, limit)
    assert len(kept) <= limit or len(kept) == len(values) <= limit
    assert (np.diff(kept) > 0).all()
    if len(values) <= limit:
        assert kept.tolist() == list(range(len(values)))
        return
    finite = array[np.isfinite(array)]
    assert {0, len(values) - 1} <= set(kept.tolist())
    if len(finite):
        seen = array[kept][np.isfinite(array[kept])]
        assert (seen.min(), seen.max()) == (finite.min(), finite.max())
    assert np.isfinite(array[kept]).all() == np.isfinite(array).all()


def test_in_a_browser_the_curves_are_drawn(written, browser):
    script = """
        const chart = charts.find(each => each.tag === "loss"), pixels = () => {
          const all = chart.base.getContext("2d").getImageData(0, 0, chart.base.width, chart.base.height).data, seen = new Set();
          for (let i = 0; i < all.length; i += 4) {
            if (all[i + 3] === 255) seen.add((all[i] << 16 | all[i + 1] << 8 | all[i + 2]).toString(16));
          }
          return ["3b7dd8", "e8772e", "2fa36b"].map(colour => seen.has(colour)).join();
        };
        const found = [charts.length, document.querySelectorAll("#legend button").length, pixels()];
        document.querySelectorAll("#legend button")[1].click(); found.push(pixels());
        byId("smooth").value = 0.9; byId("smooth").oninput({ target: byId("smooth") }); byId("log").click();
        for (const axis of ["relative", "wall", "step"]) {
          byId("axis").value = axis; byId("axis").onchange({ target: byId("axis") }); found.push(pixels());
        }
        chart.plot.setPointerCapture = () => {};
        const left = chart.plot.getBoundingClientRect().left;
        chart.plot.onpointerdown({ button: 0, pointerType: "mouse", clientX: left + 200 }); chart.plot.onpointerup({ clientX: left + 300 });
        found.push(chart.zoom.map(Math.round).join()); chart.plot.onpointermove({ clientX: left + 250 });
        found.push(chart.tip.textContent.includes("baseline"), chart.tip.textContent.includes("lr-2"));
        chart.plot.ondblclick(); found.push(chart.zoom);
        return found.join(" ");"""
    seen = ask(browser, written, script, ready="charts.every(chart => !chart.stale)").split()
    assert seen[:4] == ["2", "3", "true,true,true", "true,false,true"]
    assert seen[4:7] == ["true,false,true"] * 3
    low, high = map(int, seen[7].split(","))
    assert 1 < low < high < 200
    assert seen[8:] == ["true", "false"]    # the zoom is null again


def test_in_a_browser_hostile_names_are_text(cli, tmp_path, browser):
    with SummaryRecord(tmp_path / "runs" / HOSTILE[0].replace("/", "\u2215")) as record:
        for tag in HOSTILE:
            record.add_value("scalar", tag, 1.0)
        record.record(1)
    cli("show", tmp_path / "runs", "--html", tmp_path / "x.html").expect(0)
    codes = "[...each.textContent].map(char => char.codePointAt(0))"
    script = f"return JSON.stringify([...document.querySelectorAll('h2 span:first-child')].map(each => {codes}))"
    shown = strict_json(ask(browser, tmp_path / "x.html", script))
    assert sorted("".join(map(chr, codes)) for codes in shown) == sorted(HOSTILE)
