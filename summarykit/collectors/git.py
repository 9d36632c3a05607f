"""Which commit was run, and what differed from it. The repository is read, never touched, and nothing that it configures is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from summarykit.collectors.git_command import MOST_BYTES, Answer, ask
from summarykit.kinds import secrets

_HEAD = ("rev-parse", "--is-inside-work-tree", "HEAD", "--symbolic-full-name", "HEAD")
_STATUS = (
    "status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=dirty", "--no-ahead-behind", "--no-renames", "--",
)  # fmt: skip
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--submodule=short")
_FILTERS = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
_NO_FILTER = 1    # what that returns where there is none
_WRITTEN = ".M"    # the same in the index, not on disk
_PLAIN = re.compile(r"[\w-]+", re.ASCII)    # a name that can be written in a pathspec and after -c


def version(directories: Iterable[Path]) -> dict[str, Any]:
    """Tell the commit.

    Args:
        directories: where to look for a repository; the first that lies in one counts.

    Returns:
        ``commit`` (40 or 64 hexadecimal digits) and ``branch``; ``dirty``, where git could tell; where it is, ``diff`` of tracked files
        against the commit: of its lines those within ``git_command.MOST_BYTES`` (``diff_cut`` is True where these are not all).
        ``not_compared``, where there are any, are files that were written since git last looked, and that only a filter of the user's
        (``git lfs``, ``nbstripout``) could compare; they do not make it dirty. ``commit`` alone, None, where there is no repository, no
        commit or no git.
    """
    for directory in directories:
        inside, commit, branch = (*ask(directory, *_HEAD).text.split("\n"), "", "")[:3]
        if inside == "true":
            is_one = re.fullmatch("[0-9a-f]{40,64}", commit)
            return {"commit": commit, "branch": _short(branch), **_differences(directory)} if is_one else {"commit": None}
    return {"commit": None}


def _short(branch: str) -> str | None:
    return branch.removeprefix("refs/heads/") if branch.startswith("refs/heads/") else None


def _differences(directory: Path) -> dict[str, Any]:
    filters = _filters(directory)
    if filters is None:
        return {}
    off = [part for name in filters for key in ("clean", "smudge", "process", "required") for part in ("-c", f"filter.{name}.{key}=")]
    behind = [f":(top,attr:filter={name})" for name in filters]
    others = [":(top)", *(f":(top,exclude,attr:filter={name})" for name in filters)]
    plain = ask(directory, *_STATUS, *others, options=off)
    filtered = ask(directory, *_STATUS, *behind, options=off) if behind else Answer(b"", 0)
    if not plain.ok or not filtered.ok:
        return {}
    changes = _changes(filtered.text)
    untold = [path for change, path in changes if change == _WRITTEN]
    found = {"dirty": bool(plain.printed) or len(untold) < len(changes), **({"not_compared": untold} if untold else {})}
    if not found["dirty"]:
        return found
    diff = ask(directory, *_DIFF, "HEAD", "--", *others, options=off).printed
    if changes:
        diff += ask(directory, *_DIFF, "--cached", "HEAD", "--", *behind, options=off).printed
    cut = len(diff) > MOST_BYTES
    kept = diff[: diff.rfind(b"\n", 0, MOST_BYTES) + 1] if cut else diff    # half a line could be a secret that nothing tells as one
    return {**found, "diff": secrets.without_secrets(kept.decode("utf-8", "replace")), "diff_cut": cut}


def _filters(directory: Path) -> Sequence[str] | None:
    """Those that are configured; None where that cannot be told for sure."""
    listed = ask(directory, *_FILTERS)
    names = {key.partition(".")[2].rpartition(".")[0] for key in listed.text.split("\0") if key}
    sure = listed.code in (0, _NO_FILTER) and not listed.cut and all(map(_PLAIN.fullmatch, names))
    return sorted(names) if sure else None


def _changes(status: str) -> list[tuple[str, str]]:
    """How each file differs, in the index and on disk, and its path from the root of the repository."""
    lines = [line.split(" ", 8) for line in status.split("\0")[:-1]]    # the last is empty, or was cut
    return [(fields[1], fields[-1]) for fields in lines]
