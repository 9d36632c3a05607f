"""The progress line: in a terminal only, after a second only, and gone at the end."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest
from testkit.scripts import environment

CODE = """
import sys, time
from summarykit.cli import progress
from summarykit.cli.progress import Progress

def tell(text):
    said.append(text)
    return write(text)

said, write = [], sys.stderr.write
sys.stderr.write = tell
if sys.argv[1] == "short":
    progress._PATIENCE = 3600.0    # a busy machine makes short work long
with Progress("reading") as progress:
    for name in progress.over(["a", "b"]):
        progress.tell(name + " \\x1b[31m")
        while sys.argv[1] == "until it is drawn" and not any(f"reading {name}" in text for text in said): time.sleep(0.01)
        if sys.argv[1] == "long": time.sleep(0.7)
print("done", file=sys.stderr)
"""


def in_terminal(work: str) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", CODE, work], stderr=theirs, env=environment(""))
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:    # the terminal's other end is closed
            break
        if not piece:
            break
        said += piece
    assert process.wait(150) == 0
    os.close(ours)
    return said.decode()


def test_long_work_shows_a_line_and_takes_it_away():
    said = in_terminal("until it is drawn")
    assert all(re.search(rf"\rreading {name} \\x1b\[31m … [1-9]\d* s\x1b\[K", said) for name in "ab"), said
    assert said.endswith("\r\x1b[Kdone\r\n")


def test_short_work_shows_nothing():
    assert in_terminal("short") == "done\r\n"


def test_a_file_gets_nothing():
    command = [sys.executable, "-c", CODE, "long"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment(""), check=True)
    assert done.stderr == "done\n"


@pytest.mark.parametrize(("total", "said"), [(None, "3 of 3"), (9, "3 of 9")])
def test_over_counts(total, said):
    from summarykit.cli.progress import Progress

    progress = Progress("reading")
    assert list(progress.over("abc", total)) == ["a", "b", "c"]
    assert progress._at == said
