"""LI1: what was run is told, the repository stays untouched, and no secret is written down."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
import uuid
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from summarykit.collectors import git, secrets
from summarykit.collectors.code_version import Survey, code_version, packages

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def run_git(directory: Path, *arguments: str) -> str:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *arguments], cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    directory = tmp_path / "repository"
    directory.mkdir()
    run_git(directory, "init")
    (directory / "train.py").write_text("one\n")
    run_git(directory, "add", ".")
    run_git(directory, "commit", "-m", "first")
    return directory


def everything(directory: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with the time of its last change and its content."""
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(directory.rglob("*")) if path.is_file()}


@needs_git
def test_li1_a_clean_repository(repository):
    assert git.version([repository]) == {"commit": run_git(repository, "rev-parse", "HEAD"), "branch": "main", "dirty": False}


@needs_git
def test_li1_a_dirty_repository_from_a_folder_in_it(repository):
    (repository / "folder").mkdir()
    (repository / "train.py").write_text("one\ntwo: https://me:secret@host/path\n")
    (repository / "untracked").write_text("x")
    found = git.version([repository / "folder"])
    assert found["dirty"]
    assert not found["diff_cut"]
    assert "+two: https://***@host/path" in found["diff"]
    assert "untracked" not in found["diff"]


@needs_git
def test_li1_the_repository_is_not_touched(repository):
    run_git(repository, "checkout", "--detach")
    (repository / "train.py").write_text("two\n")
    time.sleep(0.01)
    os.utime(repository / "train.py", (1, 1))    # git would like to note that in its index
    before = everything(repository)
    assert git.version([repository])["branch"] is None
    assert everything(repository) == before


@needs_git
def test_li1_a_large_diff_is_cut(repository):
    (repository / "train.py").write_text("line of text\n" * 100_000)
    found = git.version([repository])
    assert found["diff_cut"]
    assert len(found["diff"]) == git.MOST_BYTES


@needs_git
def test_li1_a_repository_without_a_commit(tmp_path):
    run_git(tmp_path, "init")
    assert git.version([tmp_path]) == {"commit": None}


@needs_git
def test_li1_no_monitor_and_no_diff_driver_is_run(repository):
    spy = repository / "spy"
    spy.write_text("#!/bin/sh\ntouch '$0.was.run'\n")
    spy.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external"):
        run_git(repository, "config", name, str(spy))
    (repository / "train.py").write_text("two\n")
    assert git.version([repository])["dirty"]
    assert not list(repository.glob("*.was.run"))


def test_li1_outside_a_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git.version([tmp_path, tmp_path / "absent"]) == {"commit": None}


def test_li1_without_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git.version([Path.cwd()]) == {"commit": None}


@needs_git
def test_li1_a_git_that_hangs_is_ended(repository, tmp_path, monkeypatch):
    (tmp_path / "git").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(100)\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(git, "SECONDS", 0.1)
    assert git.version([repository]) == {"commit": None}


def test_the_rest():
    found = code_version()
    assert found["packages"]["numpy"]
    assert found["python"].startswith(f"{sys.version_info[0]}.")
    assert found["host"]
    assert found["command"][0]
    assert not {"os", "sys", "_pytest"} & packages().keys()


def test_no_variable_of_the_environment_is_told(monkeypatch):
    value = uuid.uuid4().hex    # the difference of a repository may hold what this file says
    monkeypatch.setenv("SOME_VARIABLE", value)
    assert value not in repr(code_version())


class Login(NamedTuple):
    user: str
    accessToken: str


class TestSecrets:
    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (["--token", "abc", "--lr", "0.1"], ["--token", "***", "--lr", "0.1"]), (["--api-key=abc"], ["--api-key=***"]),
            (["wandb.api_key=abc"], ["wandb.api_key=***"]), (["-password", "x"], ["-password", "***"]), (["--secret"], ["--secret"]),
            (["--max_tokens", "512"], ["--max_tokens", "512"]), (["--pad-token", "0"], ["--pad-token", "0"]),
            (["--hf_token", "--verbose"], ["--hf_token", "--verbose"]), (["--tokenizer=bert"], ["--tokenizer=bert"]),
            (["s3://id:key@bucket/x"], ["s3://***@bucket/x"]), (["--name", "hf_" + "a" * 30], ["--name", "***"]),
            (["+token=x", "++db.password=x"], ["+token=***", "++db.password=***"]), (["--dbPassword=x"], ["--dbPassword=***"]),
            (["-c", '{"api_key": "x", "lr": 1}'], ["-c", '{"api_key": ***, "lr": 1}']), (["-p", "lr=1,token=x"], ["-p", "lr=1,token=***"]),
            (["-H", "Authorization: Bearer abc"], ["-H", "Authorization: ***"]),
        ],
    )  # fmt: skip
    def test_in_a_command_line(self, given, told):
        assert secrets.command(given) == told

    def test_in_settings(self):
        given = {"lr": 0.1, "api_key": "x", "nested": {"db.password": "x", "tokens": 3}, "token": None, "list": [1]}
        assert secrets.settings(given) == {**given, "api_key": "***", "nested": {"db.password": "***", "tokens": 3}}

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (Namespace(password="x", lr=1), {"password": "***", "lr": 1}), (Login("me", "x"), {"user": "me", "accessToken": "***"}),
            ([{"password": "x"}, (Login("me", "x"),)], [{"password": "***"}, [{"user": "me", "accessToken": "***"}]]),
            ({1: 2, "secrets": ["x"]}, {1: 2, "secrets": "***"}), ({"token": np.ones(2)}, {"token": "***"}),
            ("postgres://me:x@host/db", "postgres://***@host/db"), ('{"password": "x"}', '{"password": ***}'),
            ('{"password": "x\\"y", "a": 1}', '{"password": ***, "a": 1}'), ("password = 'x\\\\' # 'y'", "password = *** # 'y'"),
            ("PGPASSWORD=x", "PGPASSWORD=***"), ("https://h/d?token=x&page=2", "https://h/d?token=***&page=2"),
            ("https://h/d?X-Amz-Signature=x&se=1&sig=x%2F", "https://h/d?X-Amz-Signature=***&se=1&sig=***"),
            ({"signature": "x", "url": "https://h/d?next_token_count=3"}, {"signature": "x", "url": "https://h/d?next_token_count=3"}),
        ],
    )  # fmt: skip
    def test_in_settings_of_any_type(self, given, told):
        assert secrets.settings({"a": given}) == {"a": told}

    def test_hp1_of_settings_that_hold_themselves_everything_else_is_told(self):
        root = SimpleNamespace(name="root", children=[])
        root.children += [SimpleNamespace(name=str(number), parent=root) for number in range(9)]
        told = [{"name": str(number), "parent": "***"} for number in range(9)]
        assert secrets.settings({"tree": root}) == {"tree": {"name": "root", "children": told}}

    @pytest.mark.parametrize(
        "name",
        [
            "token_count", "max_tokens", "num_token", "loss_per_token", "padToken", "eos_token", "unknown_token",
            "class_token", "tokenizer", "forward_pass", "backwardPass", "keyboard", "author", "password_length", "compass",
        ],
    )  # fmt: skip
    def test_names_that_only_sound_like_it(self, name):
        assert secrets.settings({name: "x"}) == {name: "x"}

    @pytest.mark.parametrize("name", ["HFToken", "hfToken", "hf-token", "APIKey", "email_pass", "X-Auth", "session_token"])
    def test_names_in_every_spelling(self, name):
        assert secrets.settings({name: "x"}) == {name: "***"}

    def test_whether_there_is_one_is_no_secret(self):
        given = {"use_auth_token": True, "token": 0.5, "password": ""}
        assert secrets.settings(given) == given

    def test_of_a_data_pipeline_of_many_stages_all_are_told(self):
        stage = {"op_type": "Range", "children": []}
        for number in range(40):
            stage = {"op_type": f"Map{number}", "children": [stage]}
        assert secrets.settings(stage) == stage

    def test_in_code_what_is_no_literal_stays(self):
        code = "+token = tokenizer(text)\n+api_key: str = os.environ['KEY']\n+password = 'x'\n"
        assert secrets.without_secrets(code) == code.replace("'x'", "***")

    @pytest.mark.parametrize("text", ["a" * 200_000, "a." * 100_000, "authorization" * 15_000, "password" + " " * 200_000, "?a" * 99_999])
    def test_a_long_line_takes_time_that_grows_with_its_length_alone(self, text):
        begun = time.thread_time()
        assert secrets.without_secrets(text) == text
        assert time.thread_time() - begun < 20    # it was minutes, in which no other thread ran


class TestSurvey:
    def test_it_is_due_until_it_was_taken(self):
        survey = Survey().start()
        found = survey.take(patience=60.0)
        assert "python" in found
        assert survey.take() is None
        assert not survey(step=1)

    def test_it_finds_out_beside_the_training(self, monkeypatch):
        go_on = threading.Event()
        monkeypatch.setattr(git, "version", lambda _: go_on.wait(60) and {"commit": "c"})
        survey = Survey().start()
        assert not survey(step=1)
        assert survey.take() is None
        go_on.set()
        assert survey.take(60.0)["commit"] == "c"

    def test_whatever_fails_fails_silently(self, monkeypatch):
        monkeypatch.setattr(git, "version", lambda _: 1 / 0)
        assert Survey().start().take(60.0) == {"commit": None}
