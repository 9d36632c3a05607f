"""``summarykit profile``: reports, pages, timelines, comparisons, and errors in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from testkit.recordings import complete, trace


def steps(folder: Path, name: str, wait: float, **about: object) -> Path:
    """A trace of ten steps of 10 ms and a wait."""
    events, time = [], 0.0
    for number in range(10):
        events += [
            complete(f"ProfilerStep#{number}", time, wait + 10_000, "user_annotation"),
            complete("enumerate(DataLoader)#x.__next__", time, wait, "user_annotation"),
            complete("aten::conv2d", time + wait, 9_000 + number),
        ]
        time += wait + 10_000
    return trace(folder / name, events, **about)


def test_a_report_in_the_terminal(cli, tmp_path):
    answer = cli("profile", steps(tmp_path, "t.json", 15_000))
    assert answer.code == 0
    assert "10 steps (0 to 9)" in answer.out
    assert "60.0%" in answer.out


def test_json_page_and_timeline(cli, tmp_path):
    path = steps(tmp_path, "t.json", 15_000)
    page, timeline = tmp_path / "p.html", tmp_path / "t.json.gz"
    answer = cli("profile", path, "--json", "--html", page, "--timeline", timeline)
    assert answer.code == 0
    assert json.loads(answer.out)["ranks"][0]["step_times"]["count"] == 10
    assert str(page) in answer.err
    assert "<svg" in page.read_text()
    again = cli("profile", timeline, "--json")
    assert json.loads(again.out)["ranks"][0]["step_times"]["count"] == 10


def test_files_for_mindinsight(cli, tmp_path):
    folder = tmp_path / "run" / "profiler"
    answer = cli("profile", steps(tmp_path, "t.json", 15_000), "--mindinsight", folder)
    assert answer.code == 0
    _, *rows = (folder / "step_trace_raw_0_detail_time.csv").read_text().splitlines()
    assert len(rows) == 11    # ten steps and their average
    for file in folder.iterdir():
        assert f"{file}: " in answer.out


def test_several_are_ranks_in_their_order(cli, tmp_path):
    found = cli("profile", steps(tmp_path, "a.json", 100), steps(tmp_path, "b.json", 900), "--json")
    assert [(each["rank"], each["world_size"]) for each in json.loads(found.out)["ranks"]] == [(0, 2), (1, 2)]
    known = [steps(tmp_path, f"{rank}.json", 1, distributedInfo={"rank": rank, "world_size": 8}) for rank in (5, 2)]
    found = cli("profile", *known, "--json")
    assert [each["rank"] for each in json.loads(found.out)["ranks"]] == [2, 5]
    assert "2 ranks" in cli("profile", *known).out


def test_two_are_compared(cli, tmp_path):
    before, after = steps(tmp_path, "a.json", 15_000), steps(tmp_path, "b.json", 100)
    answer = cli("profile", "--compare", before, after)
    assert answer.code == 0
    assert "step: faster, 25.0 ms before, 10.1 ms after" in answer.out
    kept = json.loads(cli("profile", "--compare", before, after, "--json").out)["kept"]
    assert kept["gone"][kept["rule"].index("data_wait")]


@pytest.mark.parametrize("text", ["", "no trace", '{"traceEvents": 3}'])
def test_what_is_no_recording_is_said(cli, tmp_path, text):
    (tmp_path / "t.json").write_text(text)
    answer = cli("profile", tmp_path / "t.json")
    assert answer.code == 2
    assert "holds no recording that is known" in answer.err


def test_a_damaged_trace_gives_what_is_there(cli, tmp_path):
    path = steps(tmp_path, "t.json", 100)
    path.write_bytes(path.read_bytes()[:-700])
    answer = cli("profile", path)
    assert answer.code == 0
    assert "not read: 1 cut at the end of the file" in answer.out


def test_errors_are_one_line(cli, tmp_path):
    path = steps(tmp_path, "t.json", 100)
    for arguments, told in (
        ((tmp_path / "absent",), "No such file"),
        (("--compare", path), "--compare takes two recordings"),
        (("--compare", path, path, "--html", tmp_path / "p.html"), "neither --html nor --timeline"),
        ((path, "--timeline", path), "is what is to be read"),
        ((path, "--html", tmp_path), "is a directory"),
        ((path, "--html", tmp_path / "absent/p.html"), "No such file"),
    ):
        answer = cli("profile", *arguments)
        assert answer.code == 2, arguments
        assert told in answer.err
        assert len(answer.err.splitlines()) == 1
