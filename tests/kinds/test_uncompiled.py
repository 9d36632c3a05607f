"""Hooks that are not compiled; that they are not is seen in the tests of those who have some."""

from __future__ import annotations

import sys

import pytest

from summarykit.kinds.uncompiled import uncompiled


def test_a_hook_is_called_with_what_it_is_given():
    pytest.importorskip("torch")
    assert uncompiled(lambda *given: given)(1, 2) == (1, 2)


def test_a_hook_is_itself_where_pytorch_is_not_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert uncompiled(print) is print
