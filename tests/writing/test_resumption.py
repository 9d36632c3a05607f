"""Who continues an earlier run together with others tells them by its first files."""

from __future__ import annotations

import pytest

from summarykit import Run, SummaryWriter
from summarykit.formats import FORMATS
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


def test_where_the_file_system_has_no_locks_two_may_both_say_that_they_begin_and_neither_hides_the_other(tmp_path, monkeypatch):
    """Both look into the directory before the other's file is there."""
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
