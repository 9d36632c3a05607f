"""LI1: the commit and what differs from it; the repository stays untouched, and nothing of it is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from summarykit.collectors import git, git_command

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
    assert found["diff"].endswith("\n+line of text\n")
    assert git_command.MOST_BYTES - 14 < len(found["diff"]) <= git_command.MOST_BYTES


@needs_git
def test_li1_where_a_diff_is_cut_no_half_of_a_secret_is_told(repository):
    (repository / "train.py").write_text(f'password = "{"x" * 100}"\n' * 2_500)
    found = git.version([repository])
    assert found["diff_cut"]
    assert found["diff"].endswith("+password = ***\n")
    assert "xx" not in found["diff"]


@needs_git
def test_li1_how_the_user_likes_to_see_it_changes_nothing(repository):
    (repository / "train.py").write_text("two\n")
    run_git(repository, "stash")
    run_git(repository, "checkout", "-b", "a\u3000branch")    # a blank, as str.split sees it
    for setting in ("status.showStash", "status.branch", "status.short", "diff.relative"):
        run_git(repository, "config", setting, "true")
    run_git(repository, "config", "color.ui", "always")
    (repository / "folder").mkdir()
    found = git.version([repository / "folder"])
    assert (found["branch"], found["dirty"]) == ("a\u3000branch", False)
    (repository / "train.py").write_text("three\n")
    assert git.version([repository / "folder"])["diff"].endswith("\n-one\n+three\n")


@needs_git
def test_li1_a_repository_without_a_commit(tmp_path):
    run_git(tmp_path, "init")
    assert git.version([tmp_path]) == {"commit": None}


FILTERS = ("filter.own.clean", "filter.own.smudge", "filter.own.process")
PROGRAMS = ("core.fsmonitor", "diff.external", "diff.own.command", "diff.own.textconv", *FILTERS)    # settings that name one


@pytest.fixture
def spied(repository):
    """A repository in which every program that can be configured leaves a file beside it, and what tells which were run."""
    spy, hooks = repository.parent / "spy", repository.parent / "hooks"
    spy.write_text("#!/bin/sh\necho \"$@\" >> '%s'\ncat\n" % (repository.parent / "was.run"))
    spy.chmod(0o755)
    hooks.mkdir()
    (hooks / "post-index-change").symlink_to(spy)
    (repository / ".gitattributes").write_text("*.data filter=own diff=own\n*.py diff=own\n")
    (repository / "large.data").write_text("one\n")
    (repository / "other.data").write_text("one\n")
    run_git(repository, "add", ".")
    run_git(repository, "commit", "-m", "second")
    for name in PROGRAMS:
        run_git(repository, "config", name, str(spy))
    run_git(repository, "config", "filter.own.required", "true")
    run_git(repository, "config", "core.hooksPath", str(hooks))
    return repository


def was_run(repository: Path) -> bool:
    return (repository.parent / "was.run").exists()


@needs_git
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_spy_sees_what_git_runs(spied, name):
    """Else the next tests would say nothing."""
    for other in PROGRAMS:
        if other != name and not (name == "diff.own.textconv" and other.startswith("filter")):
            run_git(spied, "-c", "core.fsmonitor=", "config", "--unset", other)
    for file in ("train.py", "large.data"):
        (spied / file).write_text("two\n")
    for arguments in (("diff", "--textconv"), ("checkout", "large.data")):
        subprocess.run(["git", "-c", "filter.own.required=false", *arguments], cwd=spied, capture_output=True, check=False)
    assert was_run(spied)


@needs_git
def test_li1_no_program_of_the_repository_is_run(spied):
    for file in ("train.py", "large.data"):
        (spied / file).write_text("two\n")
    before = everything(spied)
    found = git.version([spied])
    assert not was_run(spied)
    assert everything(spied) == before
    assert (found["dirty"], found["not_compared"]) == (True, ["large.data"])
    assert "+two" in found["diff"]
    assert "large.data" not in found["diff"]


@needs_git
def test_li1_what_only_a_filter_can_compare_does_not_make_it_dirty(spied):
    os.utime(spied / "large.data", (1, 1))    # of the content that git has
    (spied / "other.data").write_text("two\n")
    found = git.version([spied])
    assert (found["dirty"], found["not_compared"]) == (False, ["other.data"])
    assert not was_run(spied)


@needs_git
def test_li1_of_files_behind_a_filter_what_is_staged_or_gone_is_told(spied):
    off = [part for name in ("core.fsmonitor", *FILTERS, "filter.own.required") for part in ("-c", f"{name}=")]
    run_git(spied, *off, "rm", "--cached", "large.data")
    (spied / "other.data").unlink()
    (spied.parent / "was.run").unlink(missing_ok=True)
    found = git.version([spied])
    assert found["dirty"]
    assert "not_compared" not in found
    assert "-one" in found["diff"]
    assert not was_run(spied)


@needs_git
def test_li1_where_a_filter_has_a_name_that_cannot_be_switched_off_the_commit_alone_is_told(spied):
    run_git(spied, "-c", "core.fsmonitor=", "config", "filter.a=b.clean", str(spied.parent / "spy"))
    (spied / "large.data").write_text("two\n")
    assert git.version([spied]).keys() == {"commit", "branch"}
    assert not was_run(spied)


@needs_git
def test_li1_filters_are_looked_for_where_git_has_them(spied, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG", os.devnull)    # a file that git-config alone reads
    (spied / "large.data").write_text("two\n")
    assert git.version([spied])["not_compared"] == ["large.data"]
    assert not was_run(spied)


@needs_git
def test_li1_of_a_partial_clone_nothing_is_fetched(repository, tmp_path):
    run_git(repository, "config", "uploadpack.allowFilter", "true")
    (repository / "train.py").write_text("two\n")
    run_git(repository, "commit", "-a", "-m", "second")
    run_git(tmp_path, "clone", "--filter=blob:none", f"file://{repository}", "clone")
    clone, spy = tmp_path / "clone", tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'was.run'}'\nexec git-upload-pack \"$@\"\n")
    spy.chmod(0o755)
    run_git(clone, "config", "remote.origin.uploadpack", str(spy))
    run_git(clone, "update-ref", "HEAD", "HEAD~1")    # whose content it lacks
    before = everything(clone)
    found = git.version([clone])
    assert (found["commit"], found["dirty"]) == (run_git(clone, "rev-parse", "HEAD"), True)
    assert not (tmp_path / "was.run").exists()
    assert everything(clone) == before
    run_git(clone, "diff", "HEAD")
    assert (tmp_path / "was.run").exists()    # so there was something to fetch


@needs_git
def test_li1_of_a_repository_in_which_git_is_slow_the_commit_is_told(repository, tmp_path, monkeypatch):
    real, commit = shutil.which("git"), run_git(repository, "rev-parse", "HEAD")
    (tmp_path / "git").write_text(f"#!/bin/sh\ncase \" $* \" in *' status '*) sleep 100;; esac\nexec '{real}' \"$@\"\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(git_command, "SECONDS", 2.0)
    assert git.version([repository]) == {"commit": commit, "branch": "main"}


@needs_git
def test_li1_variables_of_another_repository_do_not_lead_astray(repository, tmp_path, monkeypatch):
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    assert git.version([repository])["dirty"] is False
    assert not (tmp_path / "GIT_TRACE").exists()


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
    monkeypatch.setattr(git_command, "SECONDS", 0.1)
    assert git.version([repository]) == {"commit": None}
