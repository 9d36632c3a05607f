"""Who continues an earlier run together with others tells them by its first files."""

from __future__ import annotations

import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from summarykit import Run, SummaryWriter
from summarykit.formats import FORMATS
from summarykit.writing import resumption
from summarykit.writing.maker import FileMaker
from summarykit.writing.options import WriterOptions
from summarykit.writing.resumption import Resumption


@pytest.mark.parametrize("formats", [("mindspore", "tensorboard"), ("mindspore",), ("tensorboard",)])
def test_fk1_the_first_is_known_as_soon_as_its_files_are_made(formats, tmp_path):
    """Before its first value is in them: another process may make its own at that moment."""
    options = WriterOptions(directory=str(tmp_path), formats=formats, resume=Resumption(5))
    makers = [FileMaker(options, [FORMATS.get(name)() for name in formats]) for _ in range(3)]
    for maker in makers:
        for file in maker.make():
            file.close()
    assert [maker.origin().resume_step for maker in makers] == [5, None, None]
    assert {maker.origin().resumption for maker in makers} == {options.resume.name}


@pytest.mark.parametrize("locks", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_of_those_who_begin_at_one_moment_one_says_so(locks, there, tmp_path, monkeypatch):
    """Also where the file system has no locks (as Lustre without ``-o flock``), and where the directory was removed meanwhile."""
    monkeypatch.setattr(resumption, "ALONE_SECS", 60.0)    # on a busy machine each may take long
    options = WriterOptions(directory=str(tmp_path / "run"), resume=Resumption(5))
    if there:
        options.make_directory()
    if not locks:
        monkeypatch.setattr("fcntl.flock", refused)
    look = Resumption.begins
    monkeypatch.setattr(Resumption, "begins", lambda self, *where: [look(self, *where), time.sleep(0.02)][0])    # others may look meanwhile
    makers = [FileMaker(options, [FORMATS.get(name)() for name in options.formats]) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for files in pool.map(FileMaker.make, makers):
            for file in files:
                file.close()
    assert sorted([maker.origin().resume_step for maker in makers], key=str) == [5, None, None, None]
    assert len(os.listdir(options.directory)) == 8, "and nothing is left beside the files"


def refused(*_):
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def test_who_died_while_he_began_holds_nobody_up_for_long(tmp_path, monkeypatch):
    """What he left in place of a lock is cleared away."""
    monkeypatch.setattr("fcntl.flock", refused)
    monkeypatch.setattr(resumption, "ALONE_SECS", 0.1)
    options = WriterOptions(directory=str(tmp_path), resume=Resumption(5))
    (tmp_path / f".{options.resume.name}").write_bytes(b"")
    maker = FileMaker(options, [FORMATS.get("tensorboard")()])
    for file in maker.make():
        file.close()
    assert maker.origin().resume_step == 5
    assert len(os.listdir(tmp_path)) == 1


def test_where_two_say_that_they_begin_all_the_same_neither_hides_the_other(tmp_path, monkeypatch):
    """As where one was stopped in the midst of it for long: both look into the directory before the other's file is there."""
    monkeypatch.setattr(Resumption, "begins", lambda *_: True)
    with SummaryWriter(tmp_path) as earlier:
        for step in range(10):
            earlier.add_scalar("loss", 0.0, step)
    together = Resumption(5)
    with SummaryWriter(tmp_path, resume=together) as first, SummaryWriter(tmp_path, resume=together) as second:
        for writer, steps in ((first, (5, 6)), (second, (7, 8)), (first, (9,))):
            for step in steps:
                writer.add_scalar("loss", 1.0, step)
            assert writer.flush()
    assert Run(tmp_path).scalars("loss").step.tolist() == list(range(10))
    assert Run(tmp_path).scalars("loss").value.tolist() == [0.0] * 5 + [1.0] * 5
