"""schedule: which steps are recorded."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit import Loop, Profiler, schedule
from summarykit.profiler import pipeline
from summarykit.profiler.controller import Controller
from summarykit.profiler.merging import recorded
from summarykit.profiler.scheduling import Action

N, W, R = Action.NONE, Action.WARMUP, Action.RECORD


def actions(count: int, **options: int) -> list[Action]:
    plan = schedule(**options)
    return [plan(step) for step in range(count)]


def test_periods_repeat():
    assert actions(9, skip_first=1, wait=1, warmup=1, active=2, repeat=0) == [N, N, W, R, R, N, W, R, R]
    assert actions(9, wait=1, active=1, repeat=2) == [N, R, N, R, N, N, N, N, N]
    assert actions(3, active=1) == [R, R, R]


def test_pr7_a_window_at_step_100_and_then_every_5000():
    plan = schedule(skip_first=99, wait=4999, active=1, skip_first_wait=True)
    recorded_steps = [step + 1 for step in range(20_000) if plan(step) is R]
    assert recorded_steps == [100, 5100, 10_100, 15_100]


counts = st.integers(0, 5)


@given(skip_first=counts, wait=counts, warmup=counts, active=st.integers(1, 5), repeat=st.integers(0, 3), first=st.booleans())
def test_nothing_changes_before_the_step_that_it_names(skip_first, wait, warmup, active, repeat, first):
    plan = schedule(skip_first, wait, warmup, active, repeat, skip_first_wait=first)
    step = 0
    while step < 60:
        following = plan.until(step)
        assert following > step
        assert {plan(between) for between in range(step, min(following, 80))} == {plan(step)}
        step = following
    assert plan.until(10**6) == sys.maxsize or not repeat


@given(skip_first=counts, wait=counts, warmup=counts, active=st.integers(1, 5), repeat=st.integers(1, 3))
def test_so_many_steps_are_recorded_as_were_asked_for(skip_first, wait, warmup, active, repeat):
    found = actions(100, skip_first=skip_first, wait=wait, warmup=warmup, active=active, repeat=repeat)
    assert found.count(R) == active * repeat
    assert found.count(W) == warmup * repeat


@pytest.mark.parametrize(
    "options", [{"active": 0}, {"wait": -1}, {"warmup": 1.0}, {"repeat": True}, {"skip_first": "1"}, {"skip_first_wait": "no"}]
)
def test_wrong_counts_are_refused(options):
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        schedule(**options)


def run(profiler: Profiler, count: int) -> list[list[int]]:
    profiler.start()
    for _ in range(count):
        profiler.step()
    profiler.stop()
    tables = [recorded(window.records)[0].tables.get("steps") for window in profiler.windows]
    return [[] if table is None else table["step"].tolist() for table in tables]


def test_each_period_is_a_window_of_its_own(tmp_path):
    profiler = Profiler(tmp_path, False, collectors=[], schedule=schedule(skip_first=2, wait=1, warmup=1, active=2, repeat=2))
    assert run(profiler, 20) == [[5, 6], [9, 10]]


def test_periods_without_a_pause(tmp_path):
    profiler = Profiler(tmp_path, False, collectors=[], schedule=schedule(active=2, repeat=2))
    assert run(profiler, 20) == [[1, 2], [3, 4]]


def test_while_it_waits_no_window_is_open_and_nothing_runs(tmp_path):
    import threading

    profiler = Profiler(tmp_path, collectors=[], schedule=schedule(wait=1000))
    for _ in range(10):
        profiler.step()
    assert not profiler.recording
    assert not [thread for thread in threading.enumerate() if thread.name == "summarykit-profiler"]
    assert not list(tmp_path.iterdir())
    assert profiler.step.__func__ is Controller._waiting


def test_in_a_loop_that_tells_of_its_steps_itself(tmp_path):
    profiler = Profiler(tmp_path, collectors=[], schedule=schedule(wait=1, active=2, repeat=2))
    for _ in Loop(train_dataset=range(8)).steps():
        profiler.step()
    tables = [recorded(window.records)[0].tables["steps"] for window in profiler.windows]
    assert [table["step"].tolist() for table in tables] == [[2, 3], [5, 6]]


def test_the_end_of_the_training_ends_the_window(tmp_path):
    profiler = Profiler(tmp_path, False, collectors=[], schedule=schedule(wait=2, active=10))
    assert run(profiler, 5) == [[3, 4, 5]]


def test_marks_of_the_warm_up_are_no_cost_of_the_window(tmp_path):
    profiler = Profiler(tmp_path, collectors=["pipeline"], schedule=schedule(warmup=1, active=1, repeat=1), max_overhead=1)
    window = profiler.windows[0]
    for count in (1000, 10):
        stage = pipeline.stage("numbers", range(count))
        window._running[0].tick()    # it is seen now, and not a quarter of a second later
        assert len(list(stage)) == count
        profiler.step()
    profiler.stop()
    costs = profiler.analyse().costs
    calls = dict(zip(costs["collector"].tolist(), costs["calls"].tolist(), strict=True))
    assert calls["pipeline"] == 11    # the end is a call, too
    assert 0 < calls["steps and phases"] < 100
