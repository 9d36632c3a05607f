"""Scripts run in fresh processes, and the search for what they left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

CHECKOUT = Path(__file__).resolve().parents[2]
TOKEN = "SUMMARYKIT_TEST_TOKEN"
REST = """
import time

def rest(seconds):
    '''Give other threads so much time. A nap that lasts long counts as a short one: the machine did not let this process run then.'''
    while seconds > 0:
        begun = time.monotonic(); time.sleep(0.01)
        seconds -= min(time.monotonic() - begun, 0.02)
"""
HAS_WORKERS = all(hasattr(os, name) for name in ("memfd_create", "pidfd_open", "eventfd"))


def environment(token: str, **extra: str) -> dict[str, str]:
    """This process' environment with the checkout importable, and a token by which descendants are found again."""
    path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, TOKEN: token, **extra}


def carries(process: psutil.Process, token: str) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.environ().get(TOKEN) == token
    except psutil.Error:
        return False


def descriptors(directory: Path) -> list[str]:
    """What is open in this process: pipes, sockets and memory, and files below a directory.

    Files elsewhere come and go: records of earlier tests are still being brought to the disk.
    """
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with suppress(OSError):    # that of the listing itself, or closed meanwhile
            found.append(os.readlink(f"/proc/self/fd/{fd}"))
    return sorted(each for each in found if each.startswith(("/memfd:", "anon_inode:", "pipe:", "socket:", f"{directory}/")))


def bearers(token: str) -> list[psutil.Process]:
    """Live processes, zombies aside, that were started with this token: also those in sessions of their own."""
    return [process for process in psutil.process_iter() if carries(process, token)]


def wait_until_gone(token: str, seconds: float) -> list[psutil.Process]:
    """Wait for the bearers of a token to end; gives those that did not.

    A look or a nap that lasts long counts as a short one: the machine let none of us run then.
    """
    left = bearers(token)
    while left and seconds > 0:
        begun = time.monotonic()
        time.sleep(0.05)
        left = bearers(token)
        seconds -= min(time.monotonic() - begun, 0.2)
    return left


@dataclass
class Script:
    """A Python program in a process of its own; ``code`` is its text, or the path of its file.

    ``start`` gives the running process (standard output and error are pipes), ``run`` waits for its end.
    """

    code: str | Path
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    python: str = sys.executable
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def start(self, **popen: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, *(["-c"] if isinstance(self.code, str) else []), self.code, *self.args],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "text": True, **popen},
            env=environment(self.token, **self.env),
        )

    def run(self, timeout: float = 600, **popen: object) -> Finished:
        # Files, not pipes: a descendant that holds a pipe would keep us waiting after the script itself has ended.
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            begun = time.monotonic()
            process = self.start(stdout=out, stderr=err, **popen)
            try:
                process.wait(timeout)
                hung = ""
            except subprocess.TimeoutExpired:
                self.kill()
                process.wait()
                hung = f"the script did not end within {timeout} s"
            seconds = time.monotonic() - begun
            out.seek(0)
            err.seek(0)
            done = Finished(process.returncode, out.read(), err.read(), seconds, self.token)
        assert not hung, f"{hung}\n{done.stdout}\n{done.stderr}"
        return done

    def kill(self) -> None:
        """End every process of this script."""
        for process in bearers(self.token):
            process.kill()


@dataclass
class Finished:
    """How a script ended: its exit code (negative: the signal), output and seconds."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    token: str = field(repr=False)

    def expect_success(self) -> Finished:
        assert self.returncode == 0, f"exit code {self.returncode}\n{self.stdout}\n{self.stderr}"
        return self

    def expect_nothing_left(self, seconds: float = 5) -> None:
        """No descendant of the script, in whatever session, lives on after ``seconds``."""
        left = wait_until_gone(self.token, seconds)
        assert not left, f"left behind: {[(p.pid, p.cmdline()) for p in left]}"


def children() -> list[psutil.Process]:
    """Child processes of this one, but for the trackers that multiprocessing and joblib leave behind when any test has used them."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):    # it has just ended
            if not any("multiprocessing" in word or "resource_tracker" in word for word in each.cmdline()):
                found.append(each)
    return found


class Baseline:
    """Threads, child processes and open files of this process now; ``expect`` fails unless they come back to that."""

    def __init__(self) -> None:
        self._before = self._count()

    @staticmethod
    def _count() -> dict[str, set[object]]:
        return {
            "threads": set(threading.enumerate()),
            "children": {child.pid for child in psutil.Process().children(recursive=True)},
            "files": {(file.path, file.fd) for file in psutil.Process().open_files()},
        }

    def new(self) -> dict[str, set[object]]:
        """What there is now and was not before."""
        now = self._count()
        return {what: now[what] - self._before[what] for what in now if now[what] - self._before[what]}

    def expect(self, seconds: float = 10) -> None:
        """Nothing new stays. While that changes somebody is at work, on a busy disk for long; what is the same for ``seconds`` is left."""
        new, since = self.new(), time.monotonic()
        while new and time.monotonic() - since < seconds:
            time.sleep(0.05)
            before, new = new, self.new()
            if new != before:
                since = time.monotonic()
        assert not new, f"left behind, the same for {seconds} s: {new}"
