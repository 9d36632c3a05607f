"""The command line as a whole: help, exit codes, pipes, signals, commands of third parties."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from testkit.scripts import environment

import summarykit

MAIN = "import sys; from summarykit.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed distribution with the commands ``nap`` and ``broken``; its folder, for other processes."""
    (tmp_path / "naps.py").write_text(
        '"""Sleep for a while.\n\nAs long as it takes."""\nimport time\n'
        'def add_arguments(parser): parser.add_argument("--short", action="store_true")\n'
        "def run(args):\n    print('asleep', flush=True)\n"
        "    while not args.short:\n        time.sleep(0.01)\n"    # one long sleep would not see a signal that comes just before it
        "    return 0\n"
    )
    info = tmp_path / "naps-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: naps\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[summarykit.commands]\nnap = naps\nbroken = no_such_module\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_help_lists_every_command(cli):
    answer = cli("--help").expect(0)
    for name in ("ls", "show", "verify", "repair", "convert", "export", "demo"):
        assert f"\n  {name} " in answer.out
    assert "exit codes" in answer.out


def test_no_command_shows_the_help(cli):
    assert "ls" in cli().expect(2).out


def test_version(cli):
    assert cli("--version").expect(0).out == f"summarykit {summarykit.__version__}\n"


def test_an_unknown_command_is_told_what_there_is(cli):
    cli("lss", "x").expect_error("unknown command 'lss'", "ls, show, verify")


@pytest.mark.parametrize("line", ["ls", "show x --nope", "convert a b --to csv", "show x --last 0", "show x --json --html y"])
def test_wrong_arguments(cli, line):
    arguments = line.split()
    cli(*arguments).expect_error(f"error: {arguments[0]}: ", f"(see summarykit {arguments[0]} --help)")


@pytest.mark.parametrize("command", ["ls", "show", "verify"])
def test_a_missing_directory(cli, tmp_path, command):
    cli(command, tmp_path / "absent").expect_error("absent: No such file or directory")


@pytest.mark.parametrize("line", ["ls in", "show in", "verify in", "repair in out", "convert in out --to mindspore", "export in out"])
def test_a_directory_without_summary_files(cli, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("x")
    cli(*line.split()).expect_error("in: no summary files")
    assert not (tmp_path / "out").exists()


def test_a_third_party_adds_a_command(cli, plugins):
    answer = cli("--help").expect(0)
    assert re.search(r"^ *nap +Sleep for a while\.$", answer.out, re.MULTILINE)
    assert re.search(r"^ *broken +\(cannot be loaded: No module named 'no_such_module'\)$", answer.out, re.MULTILINE)
    assert cli("nap", "--short").expect(0).out == "asleep\n"
    assert "As long as it takes." in cli("nap", "--help").expect(0).out


def test_control_characters_do_not_reach_the_terminal(cli, tmp_path):
    with summarykit.SummaryRecord(tmp_path / "run") as record:
        record.add_value("scalar", "a\x1b[31mb\nc", 1.0)
        record.record(1)
    answer = cli("show", tmp_path).expect(0)
    assert "\x1b" not in answer.out
    assert r"a\x1b[31mb\nc" in answer.out
    assert cli("show", tmp_path, "--json").json["runs"][0]["tags"][0]["tag"] == "a\x1b[31mb\nc"


@pytest.mark.parametrize("module", ["summarykit", "summarykit.cli"])
def test_python_m(base, module):
    done = subprocess.run(
        [sys.executable, "-m", module, "ls", str(base)], capture_output=True, text=True, timeout=600, env=environment(""), check=True
    )
    assert "baseline" in done.stdout
    assert done.stderr == ""


def test_a_closed_pipe_ends_it_quietly(base):
    """``summarykit show ... | head -1``: nobody reads, so it stops with the code that a shell gives to such an end."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "summarykit", "show", str(base), "--tag", "loss", "--json"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=600, env=environment(""), check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("option", ["--json", "--raw"])
def test_a_full_disk_behind_the_output_is_one_line(base, option):
    command = [sys.executable, "-m", "summarykit", "show", str(base), "--tag", "loss", option]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=600, env=environment(""), check=False)
    assert (done.returncode, done.stderr) == (2, "summarykit: error: No space left on device\n")


def test_a_full_disk_behind_a_file_is_one_line(cli, base):
    cli("show", base, "--html", "/dev/full").expect_error("No space left on device")


def test_help_fits_the_terminal(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("ls", "show", "verify", "repair", "convert", "export"):
        assert max(map(len, cli(name, "--help").expect(0).out.splitlines())) <= 80


def test_ctrl_c_ends_it_quietly(start_script, plugins):
    _, process = start_script(MAIN, "nap", env={"PYTHONPATH": os.pathsep.join([str(plugins), environment("")["PYTHONPATH"]])})
    assert process.stdout.readline() == "asleep\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=150)
    assert (process.returncode, err) == (130, "")


def test_output_that_cannot_be_encoded_is_escaped(tmp_path):
    """A terminal in Latin-1 or ASCII shows escapes, JSON stays JSON."""
    import json

    with summarykit.SummaryRecord(tmp_path / "run") as record:
        record.add_value("scalar", "Verlust ü 漢", 1.0)
        record.record(1)
    env = environment("", PYTHONIOENCODING="ascii", LC_ALL="C")
    for option in ([], ["--json"]):
        command = [sys.executable, "-m", "summarykit", "show", str(tmp_path), *option]
        done = subprocess.run(command, capture_output=True, timeout=600, env=env, check=True)
        if option:
            assert json.loads(done.stdout)["runs"][0]["tags"][0]["tag"] == "Verlust ü 漢"
        else:
            assert rb"Verlust \xfc \u6f22" in done.stdout


def test_an_unreadable_directory_is_an_error_not_a_traceback(cli, tmp_path):
    (tmp_path / "file").write_text("x")
    cli("ls", tmp_path / "file" / "below").expect_error("Not a directory")


def test_the_command_line_starts_without_what_it_does_not_need(run_script):
    code = (
        "import sys; from summarykit.cli import main; main(['--version']);"
        "heavy = {'numpy', 'pandas', 'pyarrow', 'torch', 'google.protobuf'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    run_script(code).expect_success()
