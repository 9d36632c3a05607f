"""Rolls: parameters that come in step after step are known from the last one, and nothing is taken for what it is not."""

from __future__ import annotations

import gc
import os
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from summarykit.errors import RefusedValueError  # noqa: E402
from summarykit.kinds import fence, roll  # noqa: E402
from summarykit.kinds.fence import FENCE  # noqa: E402
from summarykit.kinds.memory import NOBODY  # noqa: E402
from summarykit.kinds.roll import Roll, parameters  # noqa: E402
from summarykit.reading import Run  # noqa: E402
from summarykit.summary import SummaryRecord  # noqa: E402

TAGS = ("first", "second", "third")


class Model:
    """Three parameters that an optimizer has updated, and the values they had at each step that was ``recorded``."""

    def __init__(self):
        self.parameters = [torch.nn.Parameter(torch.full((40, 50), float(place))) for place in range(3)]
        self.optimizer = torch.optim.SGD(self.parameters, lr=1.0)
        FENCE.hold(self.parameters[0])    # sets the hook
        self.expected = {}
        self.update()

    def update(self):
        """One step of the optimizer, which changes all of them."""
        for parameter in self.parameters:
            parameter.grad = torch.ones_like(parameter)
        self.optimizer.step()

    def record(self, record, step, places=(0, 1, 2)):
        """Add those parameters and close the step."""
        for place in places:
            record.add_value("tensor", TAGS[place], self.parameters[place])
            self.expected[TAGS[place], step] = self.value(place)
        assert record.record(step)

    def train(self, record, steps):
        """So many steps, from 0 on, in which all are recorded."""
        for step in range(steps):
            self.record(record, step)
            self.update()

    def value(self, place):
        """A copy of a parameter."""
        return self.parameters[place].detach().numpy().copy()

    def roll(self):
        """A roll that expects all of them."""
        return Roll(parameters(dict(zip(TAGS, map(FENCE.hold, self.parameters), strict=True))), NOBODY)

    def check(self, directory):
        """All that was recorded, and nothing else, is in the files."""
        run = Run(directory)
        found = {(tag, point.step): point.value for tag in run.tags()["tensor"] for point in run.tensors(tag)}
        assert found.keys() == self.expected.keys()
        for place, value in self.expected.items():
            np.testing.assert_array_equal(np.asarray(found[place].data), value)


def test_what_comes_again_is_known_and_copied_as_it_was():
    model = Model()
    roll = model.roll()
    before = [model.value(place) for place in range(3)]
    assert all(roll.add(tag, parameter) for tag, parameter in zip(TAGS, model.parameters, strict=True))
    tags, copies, sizes = roll.close()
    model.update()
    assert (tags, sizes) == (list(TAGS), [8000] * 3)
    for copy, value in zip(copies, before, strict=True):
        np.testing.assert_array_equal(copy.get().data, value)


def test_nothing_recorded_is_nothing_closed():
    assert Model().roll().close() is None


def test_another_tag_tensor_or_storage_is_not_taken_for_what_is_expected():
    model = Model()
    roll = model.roll()
    first, second, third = model.parameters
    third.data = third.data.clone()
    assert not roll.add("fourth", first)
    assert not roll.add("first", second)
    assert not roll.add("first", first.detach())
    assert not roll.add("third", third)
    assert not roll.add("first", 1.0)
    assert roll.close() is None


def test_a_number_that_a_dead_parameter_had_is_no_proof():
    model = Model()
    roll = model.roll()
    FENCE.settle()
    model.parameters.clear()
    model.optimizer = None
    gc.collect()
    again = [torch.nn.Parameter(torch.zeros(40, 50)) for _ in range(50)]
    assert not any(roll.add(tag, parameter) for tag in TAGS for parameter in again)


def test_a_second_value_under_a_tag_is_not_accepted_beside_the_first():
    model = Model()
    roll = model.roll()
    assert roll.add("first", model.parameters[0])
    assert not roll.add("first", model.parameters[0])
    FENCE.begin()    # nor when it was copied already
    assert not roll.add("first", model.parameters[0])
    assert roll.replace("first")
    assert not roll.replace("first")
    assert not roll.add("first", model.parameters[0])
    assert roll.close() is None
    assert roll.add("first", model.parameters[0])    # in the next step


def test_a_change_in_place_before_the_copy_is_noticed():
    model = Model()
    roll = model.roll()
    for tag, parameter in zip(TAGS, model.parameters, strict=True):
        roll.add(tag, parameter)
    with torch.no_grad():
        model.parameters[1] += 1
    _, copies, _ = roll.close()
    first, second, third = copies
    assert first.get().shape == third.get().shape == (40, 50)
    with pytest.raises(RefusedValueError, match="fence=False"):
        second.get()
    assert roll.add("first", model.parameters[0])
    assert not roll.add("second", model.parameters[1])    # who wrote to it will again


def test_no_memory_for_a_copy_costs_that_value_and_not_the_step(monkeypatch):
    model = Model()
    roll = model.roll()
    roll.add("first", model.parameters[0])

    def exhausted(value):
        raise MemoryError

    monkeypatch.setattr(fence, "freeze", exhausted)
    model.update()
    (lost,) = roll.close()[1]
    with pytest.raises(RefusedValueError, match="no memory is left"):
        lost.get()


def test_what_is_recorded_after_the_others_were_copied_waits_too():
    model = Model()
    roll = model.roll()
    FENCE.settle()
    roll.add("first", model.parameters[0])
    FENCE.begin()
    assert not FENCE.waiting
    value = model.value(1)
    roll.add("second", model.parameters[1])
    model.update()
    _, second = roll.close()[1]
    np.testing.assert_array_equal(second.get().data, value)
    assert not FENCE.waiting


def test_two_threads_copy_once():
    model = Model()
    roll = model.roll()
    for _ in range(50):
        for tag, parameter in zip(TAGS, model.parameters, strict=True):
            roll.add(tag, parameter)
        threads = [threading.Thread(target=FENCE.begin), threading.Thread(target=FENCE.settle)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        copies = [copy.get().data for copy in roll.close()[1]]
        assert [copy[0, 0] for copy in copies] == [model.value(place)[0, 0] for place in range(3)]


def test_every_step_holds_what_the_parameters_were_whichever_are_recorded_in_it(tmp_path):
    model = Model()
    with SummaryRecord(tmp_path) as record:
        steps = [(0, 1, 2), (0, 1, 2), (0, 2), (2, 0, 1), (), (1,), (0, 1, 2), (2, 1)]
        for step, places in enumerate(steps):
            model.record(record, step, places)
            model.update()
        model.parameters[1].data = model.parameters[1].data.clone()
        for step in range(10, 13):
            model.record(record, step)
            model.update()
        assert record.flush()
        assert record.stats()["dropped"] == {}
    model.check(tmp_path)


def test_of_two_values_of_a_tag_in_one_step_the_last_wins(tmp_path, caplog):
    model = Model()
    with SummaryRecord(tmp_path) as record:
        model.train(record, 3)
        record.add_value("tensor", "first", model.parameters[0])
        record.add_value("tensor", "first", np.ones(3, np.float32))
        record.add_value("tensor", "second", np.ones(3, np.float32))
        record.add_value("tensor", "second", model.parameters[1])
        model.expected["first", 3], model.expected["second", 3] = np.ones(3, np.float32), model.value(1)
        record.record(3)
        model.update()
        assert record.flush()
    model.check(tmp_path)
    assert sum("was added twice" in line for line in caplog.messages) == 2


def test_a_filter_discards_what_a_roll_has(tmp_path):
    model = Model()
    with SummaryRecord(tmp_path) as record:
        model.train(record, 3)
        record.add_value("tensor", "first", model.parameters[0])
        record.record(3, plugin_filter=lambda plugin: plugin == "scalar")
        model.update()
        model.record(record, 4)
        model.update()
        assert record.flush()
    model.check(tmp_path)


def test_tags_that_do_not_come_again_are_forgotten(tmp_path):
    model = Model()
    with SummaryRecord(tmp_path) as record:
        for step in range(20):
            record.add_value("tensor", "first", model.parameters[0])
            record.add_value("tensor", f"of step {step}", model.parameters[1])
            record.record(step)
            model.update()
        assert len(record._pending.rolls["tensor"].known()) <= 2


def test_a_forked_child_has_no_part_in_its_parents_step(tmp_path):
    model = Model()
    with SummaryRecord(tmp_path) as record:
        model.record(record, 0)
        model.update()
        record.add_value("tensor", "first", model.parameters[0])
        model.expected["first", 1] = model.value(0)
        pid = os.fork()
        if pid == 0:
            os._exit(bool(FENCE.waiting or record._pending.rolls))
        assert os.waitpid(pid, 0)[1] == 0
        record.record(1)
        model.update()
    model.check(tmp_path)


def test_ex8_a_signal_handler_that_records_while_a_step_is_closed_takes_it_whole(tmp_path, monkeypatch):
    model = Model()
    with SummaryRecord(tmp_path) as record:

        def interrupted(*arguments):
            monkeypatch.undo()
            record.record(3)    # as a handler does that comes before the first line of the call
            return roll.Copies(*arguments)

        model.record(record, 1)
        monkeypatch.setattr(roll, "Copies", interrupted)
        model.record(record, 2)
        assert roll.Copies is not interrupted
    model.expected = {(tag, 3 if step == 2 else step): value for (tag, step), value in model.expected.items()}
    assert record.stats()["dropped"] == {}
    model.check(tmp_path)


def test_ex8_what_a_signal_handler_adds_while_a_roll_becomes_longer_is_of_the_next_step(tmp_path, monkeypatch):
    model, known = Model(), Roll.known
    with SummaryRecord(tmp_path) as record:

        def interrupted(roll):
            monkeypatch.undo()
            record.add_value("tensor", "first", model.parameters[0])
            return known(roll)

        model.record(record, 1, [0])
        monkeypatch.setattr(Roll, "known", interrupted)
        model.record(record, 2, [0, 1])
        assert Roll.known is known
        model.record(record, 3, [1])
    model.expected["first", 3] = model.value(0)
    model.check(tmp_path)
