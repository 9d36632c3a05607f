"""The rings of a crew: one serves while a larger one is made, and none goes before what lies in it."""

from __future__ import annotations

import os

import numpy as np
import pytest

from summarykit.writing import rings
from summarykit.writing.messages import Share, Withdraw
from summarykit.writing.rings import Rings

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no memory files")
MB = 2**20


class Listener:
    """A worker that is only told things."""

    def __init__(self):
        self.told = []

    def tell(self, message, descriptors=()):
        self.told.append(message)

    def post(self):
        pass


@pytest.fixture
def worker():
    return Listener()


@pytest.fixture
def some(worker, monkeypatch):
    monkeypatch.setattr(rings, "LEAST_RING", MB)
    monkeypatch.setattr(rings, "LARGEST_RING", 8 * MB)
    said = []
    some = Rings(lambda: [worker], lambda key, message, *args: said.append((key, message % args)))
    some.said = said
    yield some
    some.close()


def buffer(nbytes, value=1):
    return np.full(nbytes, value, np.uint8)


def test_nothing_is_lent_before_there_is_a_ring_with_touched_pages(some, worker):
    assert some.allocate(100) is None
    assert some.too_small()
    some.enlarge()
    assert some.cold
    assert some.allocate(100) is None
    some.warm_up()
    assert not some.cold
    assert some.locate(some.allocate(100)) is not None
    assert [type(message) for message in worker.told] == [Share]


def test_a_full_ring_grows_while_the_old_one_serves(some, worker):
    some.enlarge()
    some.warm_up()
    first = some.copy(buffer(MB - 4096, 1))
    second = some.copy(buffer(MB // 2, 2))
    assert len(some) == some.made == 2
    assert some.locate(first).ring != some.locate(second).ring
    del first
    lent = some.allocate(100)    # the new one is cold
    assert some.locate(lent).ring != some.locate(second).ring
    assert set(second.tolist()) == {2}
    some.warm_up()
    some.retire()
    assert len(some) == 2, "something still lies in the old one"
    del lent
    some.retire()
    assert len(some) == 1
    assert [type(message) for message in worker.told] == [Share, Share, Withdraw]
    assert some.locate(some.allocate(100)).ring == some.locate(second).ring


def test_it_grows_to_its_limit_and_not_for_what_is_larger(some):
    some.enlarge()
    assert some.copy(buffer(9 * MB)) is None
    assert some.made == 1
    held = []
    while (lent := some.copy(buffer(MB))) is not None:
        held.append(lent)
    assert len(held) >= 8
    assert not some.too_small()


def test_two_steps_fit(some):
    some.fit(MB)
    some.enlarge()
    held = [some.copy(buffer(MB)) for _ in range(2)]
    assert all(lent is not None for lent in held)
    assert some.made == 1
    some.fit(100 * MB)
    some.enlarge()
    assert some._newest.capacity == 8 * MB


def test_a_larger_ring_that_is_refused_is_said_once_and_the_old_one_stays(some, monkeypatch):
    some.enlarge()
    some.warm_up()

    def refuse(_):
        raise MemoryError("no more")

    monkeypatch.setattr(rings, "Ring", refuse)
    held = [some.copy(buffer(MB // 2)) for _ in range(4)]
    assert [lent is not None for lent in held] == [True, True, False, False]
    assert not some.too_small()
    assert [key for key, _ in some.said] == ["ring"]


def test_a_newcomer_is_shown_all(some):
    some.enlarge()
    kept = some.copy(buffer(MB // 2))
    some.fit(2 * MB)
    some.enlarge()
    newcomer = Listener()
    some.share(newcomer)
    assert {message.ring for message in newcomer.told} == set(some._all)
    assert len(newcomer.told) == 2
    del kept


def test_small_and_foreign_buffers_lie_in_none(some):
    some.enlarge()
    assert some.locate(buffer(100)) is None
