"""``summarykit verify``, ``repair`` and ``convert``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from testkit import building
from testkit.commands import cut, flip, only_file, strict_json
from testkit.records import check_directory, payloads, walk
from testkit.scripts import environment

from summarykit import Run
from summarykit.clock import Process
from summarykit.formats.origin import Origin

RECORDS = 102    # of the run to damage: the version, a START, 100 steps


def bytes_of(directory: Path) -> dict[str, bytes]:
    return {str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def test_verify_of_sound_files(cli, base):
    answer = cli("verify", base).expect(0)
    assert len(answer.rows) == 1 + 6 + 1
    assert {row[-1] for row in answer.rows[1:7]} == {"ok"}
    assert answer.out.endswith("all sound\n")
    document = cli("verify", base, "--json").json
    assert document["ok"] is True
    assert document["records"] == sum(check_directory(base).values())
    assert {file["state"] for file in document["files"]} == {"ok"}


def test_cr2_verify_of_a_truncated_file(cli, run_dir):
    """CR2: the last 7 bytes are cut off: told with the offset, no exception, one record less."""
    file = only_file(run_dir)
    last, _ = list(walk(file.read_bytes()))[-1]
    cut(file, 7)
    answer = cli("verify", run_dir).expect(1)
    assert "! torn" in answer.out
    assert "ends within a record that begins at" in answer.out
    (facts,) = strict_json(cli("verify", run_dir, "--json").expect(1).out)["files"]
    assert (facts["state"], facts["records"], facts["damage"], facts["truncated"]) == ("torn", RECORDS - 1, [], last)


def test_cr3_verify_of_a_flipped_byte(cli, run_dir):
    """CR3: one byte in the middle: one record is damaged, with its offset."""
    file = only_file(run_dir)
    flip(file, file.stat().st_size // 2)
    answer = cli("verify", run_dir).expect(1)
    assert "! damaged" in answer.out
    assert "wrong checksum" in answer.out
    assert "1 damaged file" in answer.out
    (facts,) = strict_json(cli("verify", run_dir, "--json").expect(1).out)["files"]
    (damage,) = facts["damage"]
    assert facts["records"] == RECORDS - 1
    assert damage["offset"] <= file.stat().st_size // 2 < damage["offset"] + damage["length"]
    assert damage["records"] == 1


def test_verify_of_one_file(cli, run_dir):
    assert cli("verify", only_file(run_dir)).expect(0).rows[1][1:4] == ["tensorboard", str(RECORDS), "5.0 kB"]


def test_verify_of_what_is_no_summary_file(cli, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing of the kind" * 100)
    cli("verify", tmp_path / "notes.txt").expect_error("is no summary file")


def test_a_file_that_grows_is_not_damaged(cli, run_dir):
    """Its end is torn, but it changed just now: whoever writes it may complete it."""
    file = only_file(run_dir)
    file.write_bytes(file.read_bytes()[:-7])
    answer = cli("verify", run_dir).expect(0)
    assert answer.rows[1][-1] == "growing"
    assert answer.out.endswith("all sound\n")
    assert cli("verify", run_dir, "--json").json["files"][0]["state"] == "growing"


@pytest.mark.parametrize(("alive", "state", "code"), [(True, "growing", 0), (False, "torn", 1)])
def test_the_writer_of_a_torn_file_is_asked_for(cli, tmp_path, alive, state, code):
    """The process that the file names: while it lives an old torn end is no damage; once it is gone a new one is."""
    writer = Process.current() if alive else _gone()
    file = tmp_path / "events.out.tfevents.1700000000.0.host.1.000000"
    opening = building.FORMATS.get("tensorboard")().opening(Origin("a" * 32, 0, writer), 1.0)
    building.write(file, [*opening, *building.payloads("tensorboard", [building.scalar("loss", 1, 1)])])
    file.write_bytes(file.read_bytes()[:-3])
    if alive:
        os.utime(file, (1e9, 1e9))
    assert cli("verify", tmp_path).expect(code).rows[1][-1].lstrip("! ") == state


def _gone() -> Process:
    """A process that has ended."""
    code = "import os; from summarykit.clock import Process; p = Process.current(); print(p.pid, p.start, p.boot, p.pid_namespace, p.host)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, env=environment(""), check=True)
    pid, start, boot, namespace, host = done.stdout.split()
    return Process(int(pid), int(start), boot, int(namespace), host)


def test_verify_lists_only_the_first_of_many_places(cli, run_dir):
    file = only_file(run_dir)
    for offset in range(400, file.stat().st_size, 300):
        flip(file, offset)
    answer = cli("verify", run_dir).expect(1)
    assert "more places (--json lists all)" in answer.out
    assert len(answer.out.splitlines()) < 20


def test_repair_copies_what_is_sound(cli, run_dir, tmp_path):
    file = only_file(run_dir)
    flip(file, 2000)
    cut(file, 7)
    before = bytes_of(run_dir)
    answer = cli("repair", run_dir, tmp_path / "out").expect(0)
    assert bytes_of(run_dir) == before
    assert f"{RECORDS - 2} records, left out:" in answer.out
    assert "1 file copied, 1 of them repaired" in answer.out
    assert len(payloads(tmp_path / "out" / file.name)) == RECORDS - 2
    assert cli("verify", tmp_path / "out").expect(0)
    assert len(Run(tmp_path / "out").scalars("loss")) == 98


def test_repair_of_a_tree_and_its_json(cli, base, tmp_path):
    files = cli("repair", base, tmp_path / "out", "--json").json["files"]
    assert bytes_of(tmp_path / "out") == bytes_of(base)
    assert {file["written"] for file in files} == {str(tmp_path / "out" / name) for name in bytes_of(base)}


@pytest.mark.parametrize("command", [("repair",), ("convert", "--to", "mindspore"), ("export",)])
def test_the_output_must_be_a_new_directory(cli, run_dir, tmp_path, command):
    name, *options = command
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    cli(name, run_dir, tmp_path / "full", *options).expect_error("is not empty; give a new directory")
    cli(name, run_dir, tmp_path / "full" / "x", *options).expect_error("is a file; give a directory")
    cli(name, run_dir, tmp_path / "full" / "x" / "below", *options).expect_error("Not a directory")
    assert [file.name for file in run_dir.iterdir()] == [only_file(run_dir).name]


@pytest.mark.parametrize("command", [("repair",), ("convert", "--to", "mindspore"), ("export",)])
def test_rm1_what_is_given_must_not_be_a_url(cli, run_dir, tmp_path, monkeypatch, command):
    name, *options = command
    monkeypatch.chdir(tmp_path)
    cli(name, run_dir, "s3://bucket/x", *options).expect_error("'s3:/bucket/x' is a URL")
    cli(name, "s3://bucket/x", tmp_path / "out", *options).expect_error("is a URL")
    assert [file.name for file in tmp_path.iterdir()] == [run_dir.name]


@pytest.mark.parametrize("command", [("repair",), ("convert", "--to", "mindspore")])
def test_the_output_must_not_be_inside_the_input(cli, run_dir, command):
    name, *options = command
    before = bytes_of(run_dir)
    cli(name, run_dir, run_dir / "out", *options).expect_error("inside")
    assert bytes_of(run_dir) == before


@pytest.mark.parametrize("form", ["mindspore", "tensorboard"])
def test_convert(cli, base, tmp_path, form):
    answer = cli("convert", base, tmp_path / "out", "--to", form).expect(0)
    assert "3 files written." in answer.out
    assert len(check_directory(tmp_path / "out")) == 3
    for name in ("baseline", "lr-2", "lr-10"):
        ours, theirs = Run(base / name), Run(tmp_path / "out" / name)
        assert ours.tags() == theirs.tags()
        assert theirs.files[0].format == form
        assert ours.scalars("loss").value.tobytes() == theirs.scalars("loss").value.tobytes()
        assert ours.scalars("loss").step.tolist() == theirs.scalars("loss").step.tolist()


def test_convert_json(cli, base, tmp_path):
    document = cli("convert", base, tmp_path / "out", "--to", "mindspore", "--json").json
    assert document["left_out"] == {}
    assert document["damaged"] == []
    assert [Path(each["file"]).stat().st_size for each in document["written"]] == [each["bytes"] for each in document["written"]]


def test_convert_tells_of_damage(cli, run_dir, tmp_path):
    flip(only_file(run_dir), 2000)
    answer = cli("convert", run_dir, tmp_path / "out", "--to", "mindspore").expect(0)
    assert answer.err.startswith("summarykit: warning: 1 damaged file")
    assert len(Run(tmp_path / "out").scalars("loss")) == 99


@pytest.mark.shared
def test_convert_tells_what_has_no_place(cli, shared, tmp_path):
    answer = cli("convert", shared / "data/mindspore/landscape_1dev", tmp_path / "out", "--to", "tensorboard").expect(0)
    assert "tensorboard has no place for points: 3 of landscape" in answer.out
