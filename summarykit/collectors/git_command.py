"""Git, asked so that it runs no program of the user's, waits for nobody, speaks to no other machine and changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MOST_BYTES = 200_000
"""Bytes of an answer that are kept."""

SECONDS = 10.0
"""A command that takes longer is ended."""

# No lock, no index written anew, no monitor, no hook, no pager. An empty value says no in every version of git.
# The last two would change what is told: only what differs in a folder, and a line for what is stashed.
_COMMAND = (
    "git", "--no-optional-locks", "--no-pager",
    "-c", "core.fsmonitor=", "-c", "core.hooksPath=", "-c", "diff.autoRefreshIndex=false", "-c", "core.quotePath=false",
    "-c", "diff.relative=false", "-c", "status.showStash=false",
)  # fmt: skip
# Of objects that a partial clone lacks none is fetched: versions that do not know GIT_NO_LAZY_FETCH may use no protocol.
_ALONE = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "LC_ALL": "C"}
_KEPT = ("GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH")


class Answer(NamedTuple):
    """What a command printed, cut a byte after ``MOST_BYTES``, and how it ended (0: well, or it was cut)."""

    printed: bytes
    code: int

    @property
    def cut(self) -> bool:
        """Whether it printed more than is kept."""
        return len(self.printed) > MOST_BYTES

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0

    @property
    def text(self) -> str:
        """The same as text; bytes that are none are replaced."""
        return self.printed.decode("utf-8", "replace")


def ask(directory: Path, *arguments: str, options: Iterable[str] = ()) -> Answer:
    """Run ``git *options *arguments`` in a directory; not ok where there is no git, no such directory, or no answer in time."""
    # variables of some other repository, set where one of its hooks began all this, would lead astray
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)} | _ALONE
    try:
        git = subprocess.Popen(
            (*_COMMAND, *options, *arguments), cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return Answer(b"", -1)
    return _read(git)


def _read(git: subprocess.Popen[bytes]) -> Answer:
    timer = threading.Timer(SECONDS, _end, (git,))
    timer.daemon = True
    timer.start()
    with git:
        assert git.stdout is not None
        printed = git.stdout.read(MOST_BYTES + 1)
        cut = len(printed) > MOST_BYTES
        if cut:
            _end(git)
        code = git.wait()
        timer.cancel()
    return Answer(printed, 0 if cut else code)


def _end(git: subprocess.Popen[bytes]) -> None:
    """With what it started, which would hold the pipe open: git may be somebody's script."""
    with suppress(OSError):    # it has just ended
        if sys.platform == "win32":
            git.kill()
        else:
            os.killpg(git.pid, signal.SIGKILL)
