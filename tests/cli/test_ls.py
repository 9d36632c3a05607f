"""``summarykit ls``."""

from __future__ import annotations

import shutil

import pytest
from testkit import building
from testkit.commands import cut, flip, only_file

from summarykit.cli import table


def test_a_line_for_each_run(cli, base):
    header, *rows = cli("ls", base).expect(0).rows
    assert header == ["run", "scalars", "histograms", "images", "tensors", "points", "last step", "changed", "size"]
    assert [row[0] for row in rows] == ["baseline", "lr-2", "lr-10"]    # 2 before 10
    assert rows[0][1:7] == ["2", "1", "1", "1", "460", "200"]
    assert rows[1][1:4] == ["2", "400", "200"]


def test_json(cli, base):
    first, second, third = cli("ls", base, "--json").json
    assert first["run"] == "baseline"
    assert first["tags"] == {"scalar": 2, "histogram": 1, "image": 1, "tensor": 1}
    assert first["points"] == {"scalar": 400, "histogram": 20, "image": 20, "tensor": 20}
    assert (first["last_step"], first["files"], first["lost_records"], first["torn_ends"]) == (200, 2, 0, 0)
    assert first["bytes"] == sum(file.stat().st_size for file in (base / "baseline").iterdir())
    assert second.keys() == third.keys() == first.keys()


def test_a_glob_chooses_runs(cli, base):
    assert [each["run"] for each in cli("ls", base, "--run", "lr-*", "--json").json] == ["lr-2", "lr-10"]
    assert [each["run"] for each in cli("ls", base, "--run", "lr-2", "--run", "base*", "--json").json] == ["baseline", "lr-2"]
    cli("ls", base, "--run", "lr-3").expect_error("no run is named 'lr-3'; there are 'lr-2'")


def test_a_run_itself_and_a_single_file(cli, run_dir):
    assert cli("ls", run_dir, "--json").json[0]["run"] == "."
    file = only_file(run_dir)
    assert cli("ls", file, "--json").json[0]["run"] == file.name


def test_lost_records_are_marked(cli, run_dir):
    flip(only_file(run_dir), 2000)
    assert "! 1 record lost" in cli("ls", run_dir).expect(0).out
    assert cli("ls", run_dir, "--json").json[0]["lost_records"] == 1


def test_damage_that_a_twin_makes_good_is_marked_as_such(cli, tmp_path):
    one, _ = building.twins(tmp_path, [building.scalar("loss", step, step) for step in range(100)], session="a" * 32)
    flip(one, 2000)
    assert "damaged, nothing lost" in cli("ls", tmp_path).expect(0).out
    assert cli("ls", tmp_path, "--json").json[0]["points"] == {"scalar": 100}


def test_a_torn_end_is_marked(cli, run_dir):
    cut(only_file(run_dir), 7)
    assert cli("ls", run_dir).expect(0).rows[1][-1] == "torn end"


def test_a_restarted_run_counts_once_unless_raw(cli, tmp_path):
    building.file(tmp_path, "tensorboard", [building.scalar("loss", step, 1) for step in range(100)], session="a" * 32)
    building.file(tmp_path, "tensorboard", [building.scalar("loss", 50, 2)], session="b" * 32, resume=50, stamp=1700000001)
    assert cli("ls", tmp_path, "--json").json[0]["points"] == {"scalar": 51}
    assert cli("ls", tmp_path, "--raw", "--json").json[0]["points"] == {"scalar": 101}


def test_the_table_fits_a_narrow_terminal(base, tmp_path):
    rows = [("a" * 150, "1,000", "3 min ago"), ("漢" * 60, "1", "1 h ago")]
    lines = list(table.lines(("<run", ">points", ">changed"), rows, 80))
    assert [table.width_of(line) for line in lines] == [80, 80, 80]
    assert all("…" in line for line in lines[1:])
    assert list(table.lines(("<run", ">points", ">changed"), rows))[1].startswith("a" * 150)
    short = table.lines(("<run", "?>points", "~changed"), [("abc", "1,000", "3 min ago or so")], 18)
    assert list(short) == ["run  changed", "abc  3 min ago or…"]


@pytest.mark.shared
def test_files_of_others(cli, shared):
    found = {each["run"]: each for each in cli("ls", shared / "data", "--json").json}
    assert found["tensorboard/r1"]["last_step"] == 1 << 40
    assert found["mindspore/graph_mode"]["points"]["scalar"] == 36
    assert found["mindspore/corrupt_two_processes"]["lost_records"] == 1
    assert found["mindspore/killed_writer_truncated"]["torn_ends"] == 1


def test_an_empty_file_is_a_run_without_points(cli, run_dir):
    only_file(run_dir).write_bytes(b"")
    assert cli("ls", run_dir, "--json").json[0]["points"] == {}
    assert cli("ls", run_dir).expect(0).rows[1][:2] == [".", "0"]


def test_a_dangling_link_does_not_stop_it(cli, run_dir, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    shutil.copytree(run_dir, tmp_path / "second")
    assert [each["run"] for each in cli("ls", tmp_path, "--json").json] == ["run", "second"]
