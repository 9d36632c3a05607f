"""The driver: whatever a framework tells or leaves out, the hooks come in order."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import pytest
from testkit.training import Journal, scalars

from summarykit import SummaryCollector
from summarykit.integrations.adapted import adapted
from summarykit.integrations.driver import Driver, LeftOpenError
from summarykit.training import Callback, Status


def driven(*events, **fields) -> tuple[Driver, Journal]:
    """Drive a journal through events: names of methods, or names with keyword arguments."""
    journal = Journal()
    driver = Driver(journal)
    driver.train_begin(**fields)
    for event in events:
        name, arguments = event if isinstance(event, tuple) else (event, {})
        getattr(driver, name)(**arguments)
    return driver, journal


STEP = ("step_begin", ("step_end", {"reported": {"loss": 1.0}}))


def test_a_training_as_it_should_be():
    evaluation = ("eval_begin", "eval_step_begin", "eval_step_end", "eval_end")
    driver, journal = driven("epoch_begin", *STEP, *STEP, *evaluation, "epoch_end", "train_end")
    assert journal.text() == (
        "train_begin 0, train_epoch_begin 0, train_step_begin 1, train_step_end 1, train_step_begin 2, train_step_end 2, "
        "eval_begin 0, eval_epoch_begin 0, eval_step_begin 1, eval_step_end 1, eval_epoch_end 1, eval_end 1, "
        "train_epoch_end 2, train_end 2"
    )
    assert driver.params.status is Status.FINISHED
    assert journal.left == [None, None]    # the evaluation, then the training


def test_events_that_nothing_is_open_for_change_nothing():
    journal = Journal()
    driver = Driver(journal)
    for step in ("epoch_begin", "step_begin", "step_end", "epoch_end", "eval_step_begin", "eval_step_end", "eval_end", "train_end"):
        getattr(driver, step)()
    driver.close()
    driver.report({"loss": 1})
    driver.failed(ValueError())
    assert journal.calls == journal.left == []


def test_everything_may_be_told_twice():
    twice = [event for event in ("epoch_begin", "step_begin", "step_end", "eval_begin", "eval_end", "train_end") for _ in "12"]
    _, journal = driven(*twice)
    assert journal.text() == (
        "train_begin 0, train_epoch_begin 0, train_epoch_end 0, train_epoch_begin 0, train_step_begin 1, train_step_end 1, "
        "eval_begin 0, eval_epoch_begin 0, eval_epoch_end 0, eval_end 0, train_epoch_end 1, train_end 1"
    )


def test_a_step_stays_open_until_there_is_an_update():
    micro = [("step_begin", {"batch": "a"}), ("step_end", {"step": 0}), ("step_begin", {"batch": "b"}), ("step_end", {"step": 1})]
    driver, journal = driven(*micro)
    assert journal.text() == "train_begin 0, train_epoch_begin 0, train_step_begin 1, train_step_end 1"
    assert (journal.fields["micro_step"], journal.fields["train_dataset_element"], driver.step) == (2, "b", 1)


def test_steps_of_which_nobody_need_be_told_count():
    driver, journal = driven(*STEP, ("pass_by", {"step": 4}), *STEP, ("pass_by", {"step": 3}))
    assert journal.text() == (
        "train_begin 0, train_epoch_begin 0, train_step_begin 1, train_step_end 1, train_step_begin 5, train_step_end 5"
    )
    assert (driver.params["micro_step"], driver.params["cur_step_num"], driver.step) == (5, 5, 5)


def test_batches_without_an_update_at_the_end_are_no_step():
    _, journal = driven("step_begin", ("step_end", {"step": 0, "reported": {"loss": 1.0}}), "epoch_end", "train_end")
    assert journal.text() == "train_begin 0, train_epoch_begin 0, train_step_begin 1, train_epoch_end 0, train_end 0"


def test_an_evaluation_within_an_open_step_belongs_to_the_last_one_completed():
    driver, journal = driven(*STEP, "step_begin", "eval_begin", "eval_end")
    assert journal.fields["train_step_num"] == 1
    assert driver.in_step
    assert driver.params.cur_step_num == 2


def test_steps_go_on_from_where_an_earlier_run_ended():
    driver, journal = driven("epoch_begin", *STEP, initial_step=40, initial_epoch=4)
    assert journal.text() == "train_begin 40, train_epoch_begin 40, train_step_begin 41, train_step_end 41"
    assert driver.params.cur_epoch_num == 5


def test_an_error_reaches_the_callbacks_and_no_end_is_told():
    driver, journal = driven("step_begin")
    driver.failed(error := ValueError("boom"))
    assert journal.left == [ValueError]
    assert (driver.params.status, driver.params.exception) == (Status.FAILED, error)
    assert "train_end" not in journal.text()


def test_an_end_that_nobody_told_is_an_interruption():
    driver, journal = driven("step_begin")
    first = driver.params
    driver.train_begin()
    assert journal.left == [LeftOpenError]
    assert first.status is Status.INTERRUPTED
    driver.train_end()
    assert driver.params.status is Status.FINISHED


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_told_from_an_error(interruption):
    driver, journal = driven("step_begin", "eval_begin")
    driver.failed(interruption())
    assert driver.params.status is Status.INTERRUPTED
    assert journal.left == [interruption, interruption]


class Raises(Callback):
    def on_train_begin(self, run_context):
        raise RuntimeError("callback")


def test_an_exception_of_a_callback_closes_the_others_and_the_driver_stays_usable():
    journal = Journal()
    driver = Driver([journal, Raises()])
    with pytest.raises(RuntimeError, match="callback"):
        driver.train_begin()
    assert journal.left == [RuntimeError]
    assert not driver.training


def test_values_that_nobody_looks_at_are_not_fetched(tmp_path):
    fetched = []
    driver = Driver(SummaryCollector(tmp_path, 3))
    driver.train_begin()
    for step in range(1, 7):
        driver.step_begin()
        driver.step_end({"loss": 0.5}, more=lambda step=step: fetched.append(step) or {"accuracy": step, "loss": -1})
    driver.train_end()
    assert fetched == [1, 3, 6]
    assert scalars(tmp_path)["accuracy"] == {1: 1, 3: 3, 6: 6}
    assert scalars(tmp_path)["loss"] == {1: 0.5, 3: 0.5, 6: 0.5}    # what is known counts more


class Adds(Callback):
    def on_train_step_end(self, run_context):
        reported = run_context.original_args().reported
        reported["twice"] = 2 * reported["accuracy"]


def test_callbacks_may_add_to_what_a_step_reported(tmp_path):
    driver = Driver([Adds(), SummaryCollector(tmp_path, 1)])
    driver.train_begin()
    driver.step_begin()
    driver.step_end({"loss": 0.5}, more=lambda: {"accuracy": 0.25})
    driver.train_end()
    found = scalars(tmp_path)
    assert (found["loss"], found["accuracy"], found["twice"]) == ({1: 0.5}, {1: 0.25}, {1: 0.5})


def test_what_is_reported_after_a_step_is_recorded_with_it(tmp_path):
    driver = Driver([SummaryCollector(tmp_path, 4), journal := Journal()])
    driver.train_begin()
    for step in range(1, 6):
        driver.step_begin()
        driver.step_end({"loss": step})
        driver.report({"later": step})
    driver.train_end()
    assert scalars(tmp_path)["later"] == {step: step for step in range(1, 6)}
    assert scalars(tmp_path)["loss"] == {1: 1, 4: 4, 5: 5}
    assert journal.fields["reported"] == {"loss": 5}


def test_an_evaluation_on_its_own(tmp_path):
    driver = Driver(SummaryCollector(tmp_path))
    driver.eval_begin(["batch"], cur_step_num=7)
    driver.report({"accuracy": 0.5})
    driver.eval_end({"loss": 2.0})
    assert scalars(tmp_path) == {"eval/accuracy": {7: 0.5}, "eval/loss": {7: 2.0}}


def test_cb6_one_callback_serves_a_run_that_was_interrupted_and_the_next(tmp_path):
    driver = Driver(SummaryCollector(tmp_path, 1))
    for first, last in ((1, 3), (4, 6)):
        driver.train_begin(initial_step=first - 1)
        for step in range(first, last):
            driver.step_begin()
            driver.step_end({"loss": step})
        driver.failed(KeyboardInterrupt())
    assert scalars(tmp_path)["loss"] == {1: 1, 2: 2, 4: 4, 5: 5}


def test_a_copy_has_the_callbacks_and_no_run():
    driver, _ = driven("step_begin")
    for copied in (copy.deepcopy(driver), pickle.loads(pickle.dumps(driver))):
        assert not copied.training
        copied.train_begin()
        copied.train_end()
    assert driver.in_step


def test_a_driver_that_was_left_open_keeps_nothing_alive():
    class Model:
        pass

    model = Model()
    driver, _ = driven("step_begin", network=model)
    gone = weakref.ref(model)
    del driver, model, _
    gc.collect()
    assert gone() is None


PROGRAM = """
import sys
from testkit.training import Journal
from summarykit import SummaryCollector
from summarykit.integrations.driver import Driver
class Told(Journal):
    def __exit__(self, kind, error, trace):
        print("left by", kind.__name__, flush=True)
driver = Driver([SummaryCollector("summary", 100), Told()])
driver.train_begin()
for step in range(3):
    driver.step_begin()
    driver.step_end({"loss": float(step)})
{end}
"""


@pytest.mark.parametrize(
    ("end", "reason"), [("raise ValueError", "ValueError"), ("raise KeyboardInterrupt", "KeyboardInterrupt"), ("", "LeftOpenError")]
)
def test_the_end_of_the_program_closes_what_is_open(run_script, tmp_path, end, reason):
    done = run_script(PROGRAM.replace("{end}", end), cwd=tmp_path, env={"PYTHONPATH": _tests()})
    assert f"left by {reason}" in done.stdout
    assert scalars(tmp_path / "summary")["loss"] == {1: 0.0, 3: 2.0}


def _tests() -> str:
    from testkit.scripts import CHECKOUT

    return f"{CHECKOUT}:{CHECKOUT / 'tests'}"


class Base:
    def __init__(self, callbacks):
        self.driver = Driver(callbacks)


Collector = adapted(SummaryCollector, Base)
Collector.__name__ = Collector.__qualname__ = "Collector"


def test_an_adapted_class_has_our_arguments_and_the_frameworks_base(tmp_path):
    collector = Collector(tmp_path, collect_freq=5)
    assert isinstance(collector, Base)
    assert collector.stats() == {}
    with pytest.raises(ValueError, match="collect_freq"):
        Collector(tmp_path, -1)
    again = pickle.loads(pickle.dumps(copy.deepcopy(collector)))
    again.driver.train_begin()
    again.driver.step_begin()
    again.driver.step_end({"loss": 1.0})
    again.driver.train_end()
    assert again.stats()["recorded"] > 0
    assert scalars(tmp_path)["loss"] == {1: 1.0}
