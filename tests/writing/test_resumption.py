"""Who continues an earlier run together with others tells them by its first files."""

from __future__ import annotations

import pytest

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
