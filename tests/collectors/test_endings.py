"""What parts are told when a run ends, and that each of them is told."""

from __future__ import annotations

import gc
import threading
import weakref
from contextlib import contextmanager

import pytest

from summarykit.collectors import PARTS, Part, SummaryCollector, system
from summarykit.collectors.collection import Collection
from summarykit.collectors.settings import Settings
from summarykit.errors import RefusedValueError
from summarykit.integrations.driver import Driver
from summarykit.notices import Notices
from summarykit.reading import Run
from summarykit.summary.record import SummaryRecord
from summarykit.training import Loop, RunContext


class Told(Part):
    """Notes what it is told, and records a scalar each time."""

    key = "collect_told"
    heard: list

    def begin(self, params, sink):
        self.heard.append(("begin", params.cur_step_num))
        sink.add("scalar", "begin", 1)

    def evaluation_end(self, params, sink):
        self.heard.append(("evaluation", params.get("metrics"), params.get("train_step_num", 0)))
        sink.add("scalar", "evaluated", 1)

    def ended(self, params, outcome, sink):
        self.heard.append((outcome.status.value, outcome.error, outcome.message))
        self.outcome = outcome
        sink.add("scalar", "ended", 1)

    def end(self):
        self.heard.append("end")


@pytest.fixture
def told(monkeypatch):
    """The types of two parts that a collector made now will use, and what they heard."""
    heard = []
    one = type("One", (Told,), {"heard": heard})
    monkeypatch.setattr(type(PARTS), "__iter__", lambda _: iter(["one"]))
    monkeypatch.setattr(PARTS, "get", lambda _: one)
    return heard


def test_ru1_a_run_that_finishes(directory, told):
    with Loop(train_dataset=range(3), callbacks=SummaryCollector(directory.path)) as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                pass
            with loop.evaluation():
                loop.report(accuracy=0.5)
    assert told == [("begin", 0), ("evaluation", {"accuracy": 0.5}, 3), ("FINISHED", "", ""), "end"]
    assert directory.steps() == {"begin": [0], "evaluated": [3], "ended": [3]}


@pytest.mark.parametrize(
    ("error", "expected"), [(ValueError("bad"), ("FAILED", "ValueError", "bad")), (SystemExit(3), ("INTERRUPTED", "SystemExit", "3"))]
)
def test_ru1_a_run_that_an_exception_ends(directory, told, error, expected):
    with pytest.raises(type(error)), Loop(train_dataset=range(3), callbacks=SummaryCollector(directory.path)) as loop:
        for _ in loop.steps():
            raise error
    assert told == [("begin", 0), expected, "end"]


def test_ru1_a_generator_that_is_left(directory, told):
    loop = Loop(train_dataset=range(3), callbacks=SummaryCollector(directory.path))
    for _ in loop.steps():
        break
    assert told == [("begin", 0), ("INTERRUPTED", "", ""), "end"]


@pytest.mark.parametrize(("error", "status"), [(None, "INTERRUPTED"), (OSError("x"), "FAILED"), (KeyboardInterrupt(), "INTERRUPTED")])
def test_ru1_a_loop_of_others_that_is_left_before_its_end(directory, told, error, status):
    collector, context = SummaryCollector(directory.path), RunContext({"cur_step_num": 0})
    collector.__enter__()
    collector.on_train_begin(context)
    collector.__exit__(type(error), error, None)
    assert [heard[0] for heard in told] == ["begin", status, "e"]


def test_ru1_a_loop_of_others_that_comes_to_its_end(directory, told):
    collector, context = SummaryCollector(directory.path), RunContext({"cur_step_num": 0})
    with collector:
        collector.on_train_begin(context)
        collector.on_train_end(context)
    assert told == [("begin", 0), ("FINISHED", "", ""), "end"]


def test_an_evaluation_on_its_own_has_neither_a_beginning_nor_an_outcome(directory, told):
    with Loop(callbacks=SummaryCollector(directory.path)).evaluation():
        pass
    assert told == [("evaluation", {}, 0), "end"]


def test_cb6_a_training_that_begins_where_no_hook_told_how_the_last_one_ended(directory, told):
    collector = SummaryCollector(directory.path)
    for _ in range(2):
        collector.__enter__()
        collector.on_train_begin(RunContext({"cur_step_num": 0}))
    collector.__exit__(None, None, None)
    assert told == 2 * [("begin", 0), ("INTERRUPTED", "", ""), "end"]
    assert len(directory.files) == 2


def test_an_exception_that_cannot_be_printed(directory, told):
    class Unspeakable(Exception):
        def __str__(self):
            raise RuntimeError

    with pytest.raises(Unspeakable), Loop(train_dataset=[1], callbacks=SummaryCollector(directory.path)) as loop:
        for _ in loop.steps():
            raise Unspeakable
    assert told[1] == ("FAILED", "Unspeakable", "(str() of it fails: RuntimeError)")


@contextmanager
def reworded():
    try:
        yield
    except ZeroDivisionError as error:
        raise ValueError("later") from error


def test_the_traceback_names_the_line_and_the_cause(directory, told, monkeypatch):
    outcomes = []
    monkeypatch.setattr(Told, "ended", lambda self, params, outcome, sink: outcomes.append(outcome))
    with pytest.raises(ValueError, match="later"), Loop(train_dataset=[0], callbacks=SummaryCollector(directory.path)) as loop:
        for batch in loop.steps():
            with reworded():
                1 / batch
    assert "1 / batch" in outcomes[0].traceback
    assert "ZeroDivisionError" in outcomes[0].traceback


@pytest.mark.parametrize("failing", ["begin", "ended", "end"])
def test_a_part_that_fails_keeps_no_other_from_being_told(directory, failing):
    heard = []

    def part(fails):
        def fail(self, *args):
            raise RuntimeError("on purpose")

        return type("A", (Told,), {"heard": heard, **({failing: fail} if fails else {})})

    record, notices = SummaryRecord(directory.path), Notices()
    parts = [part(fails)(Settings(10, None, {}, {}), notices) for fails in (True, False)]
    collection = Collection(record, parts, notices, strict=failing != "begin")
    params = RunContext({"cur_step_num": 0}).original_args()
    collection.begin(params)
    if failing == "begin":
        collection.close()
        assert heard[0] == ("begin", 0)
    else:
        with pytest.raises(RuntimeError, match="on purpose"):
            collection.close()
    assert heard.count("end") == (1 if failing == "end" else 2)
    assert not record.record(1)    # it is closed


@pytest.mark.parametrize("late", [1, 2], ids=["first step", "last step"])
def test_ru1_how_a_run_ended_is_told_where_an_exception_of_ours_ends_it(tmp_path, late):
    """The value that ended it is refused once more when the last step is collected."""
    collector = SummaryCollector(tmp_path, 1, raise_exception=True)
    with pytest.raises(RefusedValueError), Loop(train_dataset=range(1, 3), callbacks=collector) as loop:
        for batch in loop.steps():
            loop.report(loss=object() if batch == late else 0.5)
    assert (Run(tmp_path).status, Run(tmp_path).lineage().error) == ("FAILED", "RefusedValueError")


def test_ru1_a_run_that_nobody_holds_any_more_says_how_it_ended(tmp_path):
    """Many frameworks do not tell of exceptions; what held the callbacks is then garbage, and mostly a cycle."""
    driver = Driver(SummaryCollector(tmp_path, 1))
    driver.itself = driver
    driver.train_begin()
    for number in (1, 2):
        driver.step_begin()
        driver.step_end({"loss": number})
    del driver
    gc.collect()
    assert Run(tmp_path).status == "INTERRUPTED"
    assert Run(tmp_path).scalars("loss").step.tolist() == [1, 2]


def test_a_run_that_nobody_left_is_let_go_of_with_what_holds_it(tmp_path, monkeypatch):
    monkeypatch.setattr(system, "PERIOD", 0.01)
    others = {*threading.enumerate()}
    collector = SummaryCollector(tmp_path, 1)
    collector.__enter__()
    collector.on_train_begin(RunContext({"cur_step_num": 0}))
    gone = weakref.ref(collector._open.record)
    (sampling,) = (thread for thread in threading.enumerate() if thread not in others and thread.name == "summarykit-system")
    del collector
    gc.collect()
    assert gone() is None
    sampling.join(60)
    assert not sampling.is_alive()
