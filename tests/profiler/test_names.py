"""Texts by number: bounded, however long a process lives and whatever it calls its phases."""

from __future__ import annotations

import logging
import threading

import pytest

from summarykit.notices import logger
from summarykit.profiler import names
from summarykit.profiler.recording import Category


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MOST", 5)


def test_phases_with_ever_new_names_fill_no_memory_and_take_no_place_of_others(caplog: pytest.LogCaptureFixture):
    table = names.Names()
    numbers = [table.number(f"step {step}", Category.PHASE) for step in range(100)]
    assert numbers == [0, 1, 2, 3, 4] + [5] * 95
    assert table.entries[5] == (Category.PHASE, names.OTHERS)
    assert table.number("main.py:1", Category.PYTHON) == 6
    assert table.number("step 2", Category.PHASE) == 2
    assert [record.getMessage() for record in caplog.records] == ["profiler: 5 names of one kind: what has another one is not told apart"]


def test_while_somebody_is_told_that_there_are_too_many_others_get_their_numbers(monkeypatch: pytest.MonkeyPatch):
    """A handler of logging holds a lock, and another thread may come to it from a phase."""
    table = names.Names()
    found: list[int] = []

    class Telling(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            other = threading.Thread(target=lambda: found.append(table.number("main.py:1", Category.PYTHON)), daemon=True)
            other.start()
            other.join(20)
            assert found

    monkeypatch.setattr(logger, "handlers", [Telling()])
    assert [table.number(f"step {step}", Category.PHASE) for step in range(7)] == [0, 1, 2, 3, 4, 5, 5]
    assert found == [6]


def test_a_long_text_is_cut_and_found_again():
    table = names.Names()
    assert table.number("x" * 5000) == table.number("x" * 5000) == 0
    assert table.entries == [(Category.OTHER, "x" * names.LONGEST)]
