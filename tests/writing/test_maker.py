"""Whatever interrupts the making of files leaves none behind, and they are made the next time."""

from __future__ import annotations

import os
import sys

import pytest

from summarykit.formats import FORMATS
from summarykit.writing import file, maker
from summarykit.writing.options import WriterOptions
from summarykit.writing.resumption import Resumption


def interrupted(made, at, error):
    """Make files; at one line of ours comes an exception. False: there is no such line."""
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        if frame.f_code.co_filename not in (maker.__file__, file.__file__) or frame.f_code.co_name in ("_remove", "remove"):
            return None
        lines += event == "line"
        if lines == at and event == "line":
            raise error
        return trace

    before, files = sys.gettrace(), []
    sys.settrace(trace)
    try:
        files = made.make()
    except type(error) as raised:
        if raised is not error:
            raise
    finally:
        sys.settrace(before)
        close(files)
    return lines >= at


def close(files):
    for each in files:
        each.close()


@pytest.mark.parametrize("resume", [None, 5])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_an_exception_at_every_line_while_files_are_made(error, resume, tmp_path, no_leftovers):
    """Ctrl-C comes at the end of a process, where the calling thread makes them."""
    at = 2    # before the first line there is nothing to take back
    options = WriterOptions(directory=str(tmp_path), resume=None if resume is None else Resumption(resume))
    while True:
        made = maker.FileMaker(options, [FORMATS.get(name)() for name in options.formats])
        if not interrupted(made, at, error):
            break
        assert os.listdir(tmp_path) == [], at
        files = made.make()
        assert made.origin().resume_step == resume, at
        assert [each.waiting > 0 for each in files] == [resume is None] * 2, at
        close(files)
        for each in tmp_path.iterdir():
            each.unlink()
        at += 1
    assert at > 20
