"""Summary operators: recorded at the steps that are collected, free at all others, and never in the model's way."""

from __future__ import annotations

import logging
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarykit
from summarykit import Loop, Run, SummaryCollector, ops
from summarykit.notices import Notices
from summarykit.ops import Gathering, current

OPERATORS = (ops.scalar, ops.histogram, ops.tensor, ops.image)


@pytest.fixture
def gathering():
    found = Gathering()
    yield found
    found.close()


@pytest.fixture
def told(monkeypatch, caplog):
    monkeypatch.setattr(current, "NOTICES", Notices())
    with caplog.at_level(logging.WARNING, logger="summarykit"):
        yield lambda: [record.getMessage() for record in caplog.records if record.name == "summarykit"]


def train(directory, model, steps=12, **loop):
    """Call a model once a step, in a loop that is collected at steps 1, 5, 10 and the last."""
    collector = SummaryCollector(directory, collect_freq=5, keep_default_action=False)
    with Loop(None, None, range(steps), 1, [collector], **loop) as running:
        for number in running.steps():
            model(number)
    return Run(directory)


def test_they_are_reached_as_users_type_it():
    assert summarykit.ops.scalar is ops.scalar


@pytest.mark.parametrize("operator", OPERATORS)
def test_they_give_the_value_itself(operator, gathering):
    value = np.zeros((1, 1, 4, 4))
    assert operator("x", value) is value
    gathering.open()
    assert operator("x", value) is value
    (given_,) = gathering.close()
    assert (given_.kind, given_.tag) == (operator.__name__, "x")
    assert given_.value is not value


def test_values_are_recorded_at_the_steps_that_are_collected(tmp_path):
    def model(number):
        ops.scalar("square", number**2)
        ops.histogram("spread", np.arange(number + 1))
        ops.tensor("values", np.full((2, 2), number, np.int16))
        ops.image("picture", np.zeros((1, 4, 4, 3)), dataformat="NHWC")

    run = train(tmp_path, model)
    assert run.scalars("square").step.tolist() == [1, 5, 10, 12]
    assert run.scalars("square").value.tolist() == [0, 16, 81, 121]
    assert [each.value.count for each in run.histograms("spread")] == [1, 5, 10, 12]
    assert np.asarray(run.tensors("values").at(10)).tolist() == [[9, 9], [9, 9]]
    assert run.images("picture").step.tolist() == [1, 5, 10, 12]


def test_values_may_change_after_the_call(tmp_path):
    running = np.zeros(3)

    def model(number):
        running[:] = number
        ops.tensor("running", running)
        running[:] = -1

    run = train(tmp_path, model)
    assert np.asarray(run.tensors("running").at(5)).tolist() == [4, 4, 4]


def test_an_evaluation_is_not_training(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1, keep_default_action=False)
    with Loop(None, None, range(3), 2, [collector]) as loop:
        for _ in loop.epochs():
            for number in loop.steps():
                ops.scalar("x", number)
            with loop.evaluation(range(5)):
                for number in loop.steps():
                    ops.scalar("x", -number)
                    ops.scalar("only here", number)
    run = Run(tmp_path)
    assert run.scalars("x").value.tolist() == [0, 1, 2] * 2
    assert run.tags()["scalar"].count("only here") == 0


def test_a_step_that_fails_leaves_nothing_for_the_next_run(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1, keep_default_action=False)
    with pytest.raises(ZeroDivisionError), Loop(None, None, range(3), 1, [collector]) as loop:
        for _ in loop.steps():
            ops.scalar("x", 1)
            raise ZeroDivisionError
    ops.scalar("x", 2)
    with Loop(None, None, range(1), 1, [collector]) as loop:
        for _ in loop.steps():
            ops.scalar("y", 3)
    assert "x" not in Run(tmp_path, raw=True).tags()["scalar"]
    assert not current._gatherings


def test_of_two_collectors_each_gets_its_steps(tmp_path):
    both = [SummaryCollector(tmp_path / str(freq), collect_freq=freq, keep_default_action=False) for freq in (2, 3)]
    with Loop(None, None, range(7), 1, both) as loop:
        for number in loop.steps():
            ops.scalar("x", number)
    assert [Run(tmp_path / freq).scalars("x").step.tolist() for freq in ("2", "3")] == [[1, 2, 4, 6, 7], [1, 3, 6, 7]]


def test_they_work_in_other_threads(gathering):
    gathering.open()
    threads = [threading.Thread(target=ops.scalar, args=(f"t{number}", number)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(each.tag, each.value) for each in gathering.close()} == {(f"t{number}", number) for number in range(4)}


def test_cb_a_value_that_cannot_be_copied_is_told_once_and_costs_nothing(gathering, told):
    class Stubborn:
        def __deepcopy__(self, memo):
            raise RuntimeError("not me")

    gathering.open()
    for _ in range(3):
        ops.scalar("odd", Stubborn())
    ops.scalar("even", 2)
    assert [each.tag for each in gathering.close()] == ["even"]
    assert len(told()) == 1
    assert "'odd' is not recorded: RuntimeError: not me" in told()[0]


def test_a_value_that_no_record_takes_costs_nothing_else(tmp_path):
    def model(number):
        ops.scalar("complex", 1j)
        ops.tensor("text", "text")
        ops.scalar("number", number)

    assert train(tmp_path, model).tags()["scalar"] == ["number"]


@given(st.lists(st.tuples(st.sampled_from(["scalar", "tensor"]), st.sampled_from("abc"), st.integers(-9, 9))))
def test_of_one_kind_and_tag_the_last_value_counts(calls):
    gathering = Gathering()
    gathering.open()
    for kind, tag, value in calls:
        getattr(ops, kind)(tag, value)
    found = gathering.close()
    assert {(each.kind, each.tag): each.value for each in found} == {(kind, tag): value for kind, tag, value in calls}
    assert len(found) == len({call[:2] for call in calls})
    assert gathering.close() == []
