"""Which parts are due: each rule is asked once, and parts come in their order."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from summarykit.collectors import Part
from summarykit.collectors.schedule import Schedule
from summarykit.collectors.settings import Settings
from summarykit.notices import Notices
from summarykit.training.triggers import Place, Trigger, at, every, first, last


def part(trigger):
    made = Part(Settings(10, None, {}, {}), Notices())
    made.trigger = trigger
    return made


@dataclass    # with an equality of its own, and so no hash
class Counting(Trigger):
    name: str
    asked: int = 0

    def fires(self, now, previous, final):
        self.asked += 1
        return now.step % 2 == 0


def test_a_rule_that_many_share_is_asked_once():
    shared, other = Counting("a"), Counting("b")
    parts = [part(shared), part(other), part(shared)]
    schedule = Schedule(parts)
    assert schedule.due(Place(2), Place(1), False) == parts
    assert schedule.due(Place(3), Place(2), False) == []
    assert (shared.asked, other.asked) == (2, 2)


def test_rules_that_say_the_same_are_one():
    assert len(Schedule([part(first() | every(steps=10) | last()) for _ in range(5)])._rules) == 1
    assert len(Schedule([part(every(steps=10)), part(every(steps=11))])._rules) == 2


@pytest.mark.parametrize(("step", "expected"), [(1, [0, 2]), (3, [1]), (4, [0, 2, 3]), (5, [])])
def test_parts_come_in_their_order(step, expected):
    parts = [part(at(steps=[1, 4])), part(at(steps=3)), part(at(steps=[1, 4])), part(at(steps=4))]
    assert Schedule(parts).due(Place(step), Place(step - 1), False) == [parts[number] for number in expected]


def test_without_parts_nothing_is_due():
    assert Schedule([]).due(Place(1), None, True) == []
