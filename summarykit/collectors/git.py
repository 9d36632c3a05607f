"""Which commit was run, and what differed from it. The repository is read, never touched."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from summarykit.collectors import secrets

MOST_BYTES = 200_000
"""Bytes of a diff that are kept."""

SECONDS = 10.0
"""A git command that takes longer is ended."""

# Locks and the index are left alone; no monitor, pager, diff driver or converter that somebody configured is run.
_COMMAND = (
    "git", "--no-optional-locks", "--no-pager",
    "-c", "core.fsmonitor=false", "-c", "diff.autoRefreshIndex=false", "-c", "core.quotePath=false",
)  # fmt: skip
_STATUS = ("status", "--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules=dirty")
_DIFF = ("diff", "HEAD", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
_OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF")    # set where a hook of some repository began all this


def version(directories: Iterable[Path]) -> dict[str, Any]:
    """Tell the commit.

    Args:
        directories: where to look for a repository; the first that lies in one counts.

    Returns:
        ``commit`` (40 or 64 hexadecimal digits), ``branch``, ``dirty`` and, where it is, ``diff`` of tracked files against the commit, cut
        at ``MOST_BYTES`` (then ``diff_cut`` is True). ``commit`` alone, None, where there is no repository, no commit or no git.
    """
    for directory in directories:
        status = _git(directory, _STATUS)
        if status is not None:
            return _told(directory, status.decode("utf-8", "replace").splitlines())
    return {"commit": None}


def _told(directory: Path, status: list[str]) -> dict[str, Any]:
    headers = {name: rest for name, _, rest in (line[2:].partition(" ") for line in status if line.startswith("# "))}
    commit = headers.get("branch.oid", "")
    if not commit or commit == "(initial)":
        return {"commit": None}
    branch = headers.get("branch.head")
    found = {"commit": commit, "branch": None if branch == "(detached)" else branch, "dirty": len(status) > _headers(status)}
    return {**found, **_diff(directory)} if found["dirty"] else found


def _headers(status: list[str]) -> int:
    return sum(line.startswith("# ") for line in status)


def _diff(directory: Path) -> dict[str, Any]:
    diff = _git(directory, _DIFF) or b""
    text = diff[:MOST_BYTES].decode("utf-8", "replace")
    return {"diff": secrets.without_secrets(text), "diff_cut": len(diff) > MOST_BYTES}


def _git(directory: Path, arguments: Iterable[str]) -> bytes | None:
    """What a command prints, at most a byte more than is kept; None where it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in _OTHERS}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        git = subprocess.Popen(
            (*_COMMAND, *arguments), cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except OSError:    # there is no git, or no such directory
        return None
    return _read(git)


def _read(git: subprocess.Popen[bytes]) -> bytes | None:
    timer = threading.Timer(SECONDS, git.kill)
    timer.daemon = True
    timer.start()
    with git:
        assert git.stdout is not None
        printed = git.stdout.read(MOST_BYTES + 1)
        cut = len(printed) > MOST_BYTES
        if cut:
            git.kill()
        code = git.wait()
        timer.cancel()
    return printed if cut or code == 0 else None
