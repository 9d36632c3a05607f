"""LI1: what was run is told, beside the training."""

from __future__ import annotations

import sys
import threading
import uuid

from summarykit.collectors import git
from summarykit.collectors.code_version import Survey, code_version, packages


def test_the_rest():
    found = code_version()
    assert found["packages"]["numpy"]
    assert found["python"].startswith(f"{sys.version_info[0]}.")
    assert found["host"]
    assert found["command"][0]
    assert not {"os", "sys", "_pytest"} & packages().keys()


def test_no_variable_of_the_environment_is_told(monkeypatch):
    value = uuid.uuid4().hex    # the difference of a repository may hold what this file says
    monkeypatch.setenv("SOME_VARIABLE", value)
    assert value not in repr(code_version())


class TestSurvey:
    def test_it_is_due_until_it_was_taken(self):
        survey = Survey().start()
        found = survey.take(patience=60.0)
        assert "python" in found
        assert survey.take() is None
        assert not survey(step=1)

    def test_it_finds_out_beside_the_training(self, monkeypatch):
        go_on = threading.Event()
        monkeypatch.setattr(git, "version", lambda _: go_on.wait(60) and {"commit": "c"})
        survey = Survey().start()
        assert not survey(step=1)
        assert survey.take() is None
        go_on.set()
        assert survey.take(60.0)["commit"] == "c"

    def test_whatever_fails_fails_silently(self, monkeypatch):
        monkeypatch.setattr(git, "version", lambda _: 1 / 0)
        assert Survey().start().take(60.0) == {"commit": None}
