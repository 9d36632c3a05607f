"""How often workers are started again."""

from __future__ import annotations

import time

from summarykit.writing import vacancies
from summarykit.writing.vacancies import MOST_FAILURES, Vacancies


def test_a_free_post_is_open_at_once():
    free = Vacancies(2)
    assert free.open(0)
    assert free.open(1)
    assert not free.open(2)


def test_each_end_in_a_row_makes_the_next_start_later(monkeypatch):
    monkeypatch.setattr(vacancies, "_BACK_OFF_SECS", (0.0, 1000.0, 2000.0))
    free = Vacancies(1)
    free.ended(age=1.0)
    assert free.open(0)
    waits = []
    for _ in range(3):
        free.ended(age=1.0)
        assert not free.open(0)
        waits.append(round(free.not_before - time.monotonic(), -2))
    assert waits == [1000, 2000, 2000]


def test_a_long_life_makes_earlier_ends_forgotten(monkeypatch):
    monkeypatch.setattr(vacancies, "_BACK_OFF_SECS", (0.0, 1000.0))
    free = Vacancies(1)
    free.ended(age=1.0)
    free.ended(age=1.0)
    assert not free.open(0)
    free.ended(age=3600.0)
    assert free.open(0)


def test_it_is_given_up_after_some_that_never_came(monkeypatch):
    monkeypatch.setattr(vacancies, "_BACK_OFF_SECS", (0.0,))
    free = Vacancies(1)
    assert [free.failed() for _ in range(MOST_FAILURES)] == [False] * (MOST_FAILURES - 1) + [True]
    assert not free.open(0)


def test_one_that_came_makes_failures_forgotten(monkeypatch):
    monkeypatch.setattr(vacancies, "_BACK_OFF_SECS", (0.0,))
    free = Vacancies(1)
    for _ in range(3 * MOST_FAILURES):
        assert not free.failed()
        free.ended(age=1.0)
    assert free.open(0)
