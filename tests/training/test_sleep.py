"""Callbacks that sleep: until the step that they name they are not called for steps, and miss nothing that they need."""

from __future__ import annotations

import weakref
from unittest.mock import MagicMock

import numpy as np
import pytest

from summarykit.collectors import SummaryCollector
from summarykit.integrations.driver import Driver
from summarykit.reading import Run
from summarykit.training import Callback, Loop


class Sleeper(Callback):
    """Writes down what it is told, with the step and what that reported."""

    wakes_at = 0

    def __init__(self, wakes_at):
        self.wakes_at, self.told = wakes_at, []

    def _write(self, hook, context):
        params = context.original_args()
        self.told.append((hook, params["cur_step_num"], dict(params["reported"])))

    def on_train_step_begin(self, context):
        self._write("begin", context)

    def on_train_step_end(self, context):
        self._write("end", context)

    def on_train_epoch_end(self, context):
        self._write("epoch end", context)

    def on_train_report(self, context):
        self._write("report", context)

    def on_eval_begin(self, context):
        self._write("evaluation", context)


def trained(*callbacks, steps=6):
    driver = Driver(callbacks)
    driver.train_begin()
    for number in range(1, steps + 1):
        driver.step_begin()
        driver.step_end({"loss": float(number)})
    return driver


FIRST = [("begin", 1, {}), ("end", 1, {"loss": 1.0})]    # nobody can have asked to be left alone before


def test_steps_before_the_one_it_waits_for_are_not_told_but_the_last_of_them():
    sleeper = Sleeper(5)
    driver = trained(sleeper)    # noqa: F841  it ends when nobody holds it
    due = [("begin", 5, {}), ("end", 5, {"loss": 5.0}), ("begin", 6, {}), ("end", 6, {"loss": 6.0})]
    assert sleeper.told == [*FIRST, ("end", 4, {"loss": 4.0}), *due]


def test_one_that_wants_every_step_keeps_all_awake():
    sleeper, awake = Sleeper(5), Sleeper(0)
    driver = trained(sleeper, awake)    # noqa: F841
    assert sleeper.told == awake.told
    assert len(awake.told) == 12


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (lambda driver: driver.eval_begin(), ("evaluation", 0, {"loss": 6.0})),
        (lambda driver: driver.report({"rate": 0.5}), ("report", 6, {"rate": 0.5})),
        (lambda driver: driver.epoch_end(), ("epoch end", 6, {"loss": 6.0})),
    ],
    ids=["evaluation", "report", "epoch"],
)
def test_before_anything_else_is_told_the_last_step_is(event, told):
    sleeper = Sleeper(100)
    driver = trained(sleeper)
    event(driver)
    assert sleeper.told == [*FIRST, ("end", 6, {"loss": 6.0}), told]


def test_an_exception_in_a_step_leaves_the_one_before_with_what_it_reported():
    sleeper = Sleeper(100)
    driver = trained(sleeper)
    driver.step_begin()
    driver.report({"loss": 7.0})
    driver.failed(ValueError())
    assert sleeper.told == [*FIRST, ("end", 6, {"loss": 6.0})]


@pytest.mark.parametrize("open_", [False, True], ids=["between steps", "within one"])
def test_a_loop_that_fails_is_told_of_its_last_step(open_):
    sleeper = Sleeper(100)
    with pytest.raises(ValueError, match="wrong"), Loop(train_dataset=range(9), callbacks=sleeper) as loop:
        for number in loop.steps():
            if open_ and number == 4:
                raise ValueError("wrong")
            loop.report(loss=float(number))
            if number == 4:
                loop._phase.end_step()
                raise ValueError("wrong")
    last = 4 if open_ else 5
    assert sleeper.told == [("begin", 1, {}), ("end", 1, {"loss": 0.0}), ("end", last, {"loss": last - 1.0})]


def test_the_collector_sleeps_and_its_points_are_the_same(tmp_path):
    """So are those of a step that an exception ended, and of the step before."""
    for name, others in (("alone", []), ("awake", [Sleeper(0)])):
        with pytest.raises(ValueError, match="wrong"), Loop(
            train_dataset=range(40), callbacks=[SummaryCollector(tmp_path / name, 7, keep_default_action=True), *others]
        ) as loop:
            for number in loop.steps():
                loop.report(loss=float(number))
                if number == 32:
                    raise ValueError("wrong")
    alone, awake = (Run(tmp_path / name).scalars("loss") for name in ("alone", "awake"))
    assert alone.step.tolist() == awake.step.tolist() == [1, 7, 14, 21, 28, 32, 33]
    assert alone.value.tolist() == awake.value.tolist()


def test_hooks_of_a_subclass_are_called_at_every_step(tmp_path):
    seen = []

    class Counting(SummaryCollector):
        def on_train_step_end(self, run_context):
            super().on_train_step_end(run_context)
            seen.append(run_context.original_args()["cur_step_num"])

    trained(Counting(tmp_path)).train_end()
    assert seen == [1, 2, 3, 4, 5, 6]


def test_a_hook_of_the_object_itself_is_called_at_every_step(tmp_path):
    seen, collector = [], asleep(tmp_path)
    theirs = collector.on_train_step_end

    def ours(run_context):
        theirs(run_context)
        seen.append(run_context.original_args()["cur_step_num"])

    collector.on_train_step_end = ours
    trained(collector).train_end()
    assert seen == [1, 2, 3, 4, 5, 6]


def asleep(path, **specified):
    """A collector that from the first step on sleeps: lineage would wait for the version of the code."""
    return SummaryCollector(path, 100, collect_specified_data={"collect_train_lineage": False, **specified})


class Forwarding:
    """All that a callback has, by way of one inside, and a hook of its own."""

    def __init__(self, inner):
        self.inner, self.seen = inner, []

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __enter__(self):
        return self.inner.__enter__()

    def __exit__(self, *error):
        self.inner.__exit__(*error)

    def on_train_step_end(self, run_context):
        self.inner.on_train_step_end(run_context)
        self.seen.append(run_context.original_args()["cur_step_num"])


@pytest.mark.parametrize("inside", [asleep, lambda path: MagicMock()], ids=["collector", "mock"])
def test_what_forwards_to_another_is_awake(tmp_path, inside):
    forwarding = Forwarding(inside(tmp_path))
    trained(forwarding).train_end()
    assert forwarding.seen == [1, 2, 3, 4, 5, 6]


def test_what_was_reported_is_held_no_longer_than_to_the_end_of_the_next_step(tmp_path):
    held, found = [], []
    with Loop(train_dataset=range(8), callbacks=asleep(tmp_path)) as loop:
        for _ in loop.steps():
            array = np.zeros(3)
            loop.report(values=array)
            held.append(weakref.ref(array))
            del array
            found.append([step for step, array in enumerate(held, 1) if array() is not None])
    assert all(step >= now - 1 for now, steps in enumerate(found, 1) for step in steps)


def test_what_was_reported_is_held_no_longer_than_until_the_next_step_is_told():
    held, found = [], []

    class Look(Callback):
        def on_train_step_end(self, run_context):
            found.append([array() is not None for array in held])

    with Loop(train_dataset=range(4), callbacks=Look()) as loop:
        for _ in loop.steps():
            array = np.zeros(3)
            loop.report(values=array, loss=array)
            held.append(weakref.ref(array))
            del array
    assert found == [[False] * before + [True] for before in range(4)]


@pytest.mark.parametrize("closed", [3, 5], ids=["meanwhile", "afterwards"])
def test_a_training_whose_end_nobody_told_is_complete_where_another_begins_with_its_callbacks(tmp_path, closed, caplog):
    collector = asleep(tmp_path, histogram_regular=None)
    driver, following = Driver(collector), Driver(collector)
    driver.train_begin(network={"weight": np.ones(3)})
    for number in range(1, 16):
        driver.step_begin()
        driver.step_end({"loss": float(number)})
    following.train_begin()
    for number in range(1, 6):
        following.step_begin()
        following.step_end({"loss": float(number)})
        if number == closed:
            driver.close()
    following.train_end()
    run = Run(tmp_path)
    assert run.histograms("weight/auto").step.tolist() == [1, 15]
    assert run.scalars("loss").step.tolist() == [1, closed, 15]    # a collector serves one training at a time
    assert "once every" not in caplog.text
