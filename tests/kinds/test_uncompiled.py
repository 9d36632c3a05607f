"""Hooks that are not compiled; that they are not is seen in the tests of those who have some."""

from __future__ import annotations

import sys

import pytest

from summarykit.kinds.uncompiled import uncompiled


def test_a_hook_is_called_with_what_it_is_given():
    pytest.importorskip("torch")
    assert uncompiled(lambda *given: given)(1, 2) == (1, 2)


def test_a_hook_is_called_at_once_where_nothing_is_compiled_and_apart_where_something_is():
    """The way apart takes 12 µs where caches are cold."""
    torch = pytest.importorskip("torch")
    callers = []
    hook = uncompiled(lambda number: callers.append({*_files(sys._getframe(1))}))

    def calls(x):
        y = x + 1
        hook(1)
        return 2 * y

    torch.compile(calls, backend="eager")(torch.ones(2))
    hook(1)
    compiled, plain = callers
    assert any("_dynamo" in each for each in compiled)
    assert not any("_dynamo" in each for each in plain)


def test_a_hook_goes_apart_always_where_pytorch_has_its_switch_by_another_name(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.delattr(torch._C._dynamo.eval_frame, "get_eval_frame_callback")
    callers = []
    assert uncompiled(lambda number: callers.append({*_files(sys._getframe(1))}) or number)(3) == 3
    assert any("_dynamo" in each for each in callers[0])


def _files(frame):
    while frame:
        yield frame.f_code.co_filename
        frame = frame.f_back


def test_a_hook_is_itself_where_pytorch_is_not_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert uncompiled(print) is print
