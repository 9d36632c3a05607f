"""The thread executor: what is small is done where it is, the rest in the thread, and all comes back in order."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from summarykit.kinds import KINDS
from summarykit.kinds.arrays import Later
from summarykit.kinds.image import Picture
from summarykit.writing import executor
from summarykit.writing.executor import ThreadExecutor
from summarykit.writing.job import Job, Task, is_light, is_small

LIMIT = 100


class Steps:
    """A kind that gives back which thread it ran in."""

    name = "steps"
    small = 10

    def reduce(self, snapshot):
        return threading.current_thread().name


def task(step, nbytes=10, **attributes):
    return Task(Job(Steps(), "tag", SimpleNamespace(**attributes), nbytes), step, 0.0)


@pytest.fixture
def some():
    told = threading.Event()
    made = ThreadExecutor(told.set)
    made.told = told
    yield made
    made.close()


def collect(some, count):
    found, end = [], time.monotonic() + LIMIT
    while len(found) < count and time.monotonic() < end:
        some.told.wait(0.05)
        some.told.clear()
        found += some.outcomes()
    return [outcome.task.step for outcome in found], [outcome.point.value for outcome in found]


def test_small_tasks_are_done_at_once(some, monkeypatch):
    monkeypatch.setattr(executor, "HERE_SECS", float(LIMIT))    # however slow the machine
    for step in range(50):
        some.submit(task(step))
    here = threading.current_thread().name
    assert [(outcome.task.step, outcome.point.value) for outcome in some.outcomes()] == [(step, here) for step in range(50)]


@pytest.mark.parametrize("seconds", [0.0, float(LIMIT)])
def test_all_come_back_in_order(some, monkeypatch, seconds):
    """A small one waits behind a large one; and no more of them are done at once than there is time for."""
    monkeypatch.setattr(executor, "HERE_SECS", seconds)
    for step in range(60):
        some.submit(task(step, nbytes=11 if step == 20 else 10))
    steps, threads = collect(some, 60)
    assert steps == list(range(60))
    assert threads[20:21] == ["summarykit-reduce"]
    assert set(threads[:20]) == ({"summarykit-reduce"} if seconds == 0.0 else {threading.current_thread().name})
    assert some.submitted == some.completed == 60


def test_the_last_outcome_is_told(some):
    some.submit(task(0, nbytes=11))
    assert some.told.wait(LIMIT)
    assert len(some.outcomes()) == 1


def test_what_must_be_waited_for_is_not_small():
    assert is_small(task(0).job)
    assert is_small(task(0, settled=True).job)
    assert not is_small(task(0, settled=False).job)
    assert not is_small(task(0, nbytes=11).job)
    assert not is_light(task(0).job)


@pytest.mark.parametrize(("kind", "options"), [("histogram", {}), ("histogram", {"bins": 3}), ("image", {})])
def test_small_arrays(kind, options):
    """Those in host memory, also where a kind holds more than the array."""
    found = KINDS.get(kind)
    for size, small in ((16, True), (512, False)):
        snapshot = found.snapshot(np.zeros((size, size), np.float32), **options)
        assert is_small(Job(found, "tag", snapshot, snapshot.nbytes)) is small


def test_a_picture_on_a_device_is_waited_for_elsewhere():
    class Pending(Later):
        nbytes, shape = 48, (4, 4)

    picture = Picture(Pending(), "HW")
    assert not picture.settled
    assert not is_small(Job(KINDS.get("image"), "tag", picture, picture.nbytes))


class Squares:
    """A kind that does several at once, unless one of them is negative."""

    name = "squares"
    small = 10

    def __init__(self):
        self.together = []

    def reduce(self, snapshot):
        if snapshot < 0:
            raise ValueError(f"{snapshot} is negative")
        return snapshot**2

    def reduce_many(self, snapshots):
        self.together.append(len(snapshots))
        return [self.reduce(each) for each in snapshots]


def numbers(kind, values, nbytes=10, wall_time=0.0):
    return [Task(Job(kind, f"tag{value}", value, nbytes), 7, wall_time) for value in values]


@pytest.fixture
def unhurried(monkeypatch):
    monkeypatch.setattr(executor, "HERE_SECS", float(LIMIT))


def test_small_tasks_of_one_step_are_done_together(some, unhurried):
    kind = Squares()
    for each in [*numbers(kind, range(70)), *numbers(kind, range(3), wall_time=1.0)]:
        some.submit(each)
    found = some.outcomes()
    assert [outcome.point.value for outcome in found] == [value**2 for value in [*range(70), *range(3)]]
    assert [(outcome.point.tag, outcome.point.step) for outcome in found][-1] == ("tag2", 7)
    assert kind.together == [executor.GROUP, 70 - executor.GROUP, 3]


def test_one_that_cannot_be_done_costs_itself_alone(some, unhurried):
    for each in numbers(Squares(), [1, -2, 3]):
        some.submit(each)
    found = some.outcomes()
    assert [outcome.point and outcome.point.value for outcome in found] == [1, None, 9]
    assert found[1].reason == "squares: ValueError: -2 is negative"


class Nameless:
    """What is registered need not be as it should."""

    small = 10

    def reduce(self, snapshot):
        return snapshot


class Broken(Nameless):
    name = "broken"

    @property
    def reduce_many(self):
        raise RuntimeError("not yet")

    def __eq__(self, other):
        raise RuntimeError("not comparable")

    __hash__ = None


def test_whatever_is_wrong_with_a_kind_costs_its_own_values_at_most(some, unhurried):
    for kind in (Nameless(), Broken(), Squares()):
        for each in numbers(kind, range(2, 4)):
            some.submit(each)
    found = some.outcomes()
    assert [outcome.point and outcome.point.value for outcome in found] == [None, None, 2, 3, 4, 9]
    assert found[0].reason == "Nameless: AttributeError: 'Nameless' object has no attribute 'name'"


def give_up(shapes):
    raise SystemExit(3)


ODD = {"too few": lambda shapes: shapes[:-1], "too many": lambda shapes: [*shapes, 1], "none": lambda _: None, "gives up": give_up}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_kind_that_is_wrong_about_several_costs_nothing(some, unhurried, monkeypatch, odd):
    """The group is done one by one, here and in the thread; both go on."""
    right = Squares.reduce_many
    monkeypatch.setattr(Squares, "reduce_many", lambda kind, snapshots: odd(right(kind, snapshots)))
    for each in [*numbers(Squares(), range(3)), *numbers(Squares(), [3], nbytes=11), *numbers(Squares(), range(4, 7))]:
        some.submit(each)
    assert collect(some, 7)[1] == [value**2 for value in range(7)]


def test_the_thread_does_small_ones_together_too(some):
    """Behind a large one that it is busy with."""
    kind, go_on = Squares(), threading.Event()

    class Waits(Steps):
        def reduce(self, snapshot):
            assert go_on.wait(LIMIT)
            return 0

    some.submit(Task(Job(Waits(), "large", None, 11), 7, 0.0))
    for each in [*numbers(kind, range(5)), *numbers(kind, [5], nbytes=11), *numbers(kind, [6])]:
        some.submit(each)
    go_on.set()
    assert collect(some, 8)[1] == [0, *(value**2 for value in range(7))]
    assert kind.together == [6]


def test_what_ctrl_c_interrupts_is_done_in_the_next_turn(some, unhurried, monkeypatch):
    kind = Squares()
    with monkeypatch.context() as patch:
        patch.setattr(Squares, "reduce_many", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        for each in numbers(kind, range(3)):
            some.submit(each)
        with pytest.raises(KeyboardInterrupt):
            some.outcomes()
    assert [outcome.point.value for outcome in some.outcomes()] == [0, 1, 4]
