"""The pump and what it does when there is nothing to do."""

from __future__ import annotations

import threading
import time

import pytest
from testkit import events

from summarykit.summary import SummaryRecord
from summarykit.writing import desk
from summarykit.writing.pump import Pump
from summarykit.writing.syncer import Syncer

LIMIT = 100


class Served:
    """Leaves when it has had enough: after some turns."""

    flush_secs = 0.001
    ended = False

    def __init__(self, pump, turns=3, enough=None):
        self.pump, self.threads, self.last = pump, [], None
        self.enough = enough or (lambda: len(self.threads) == turns)

    def work(self):
        self.threads.append(threading.current_thread())
        if self.enough():
            self.last = self.pump.dismiss(self)
        return False


def wait_for(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_with_its_last_writer_the_thread_ends_and_the_next_one_starts_another():
    ended = []
    pump = Pump(lambda: ended.append(threading.current_thread()))
    for number in (1, 2):
        some = Served(pump)
        assert pump.attend(some)
        wait_for(lambda number=number: len(ended) == number)
        assert some.last is True
        assert some.threads == [ended[-1]] * 3
        ended[-1].join(LIMIT)
        assert not ended[-1].is_alive()


def test_the_first_of_two_does_not_end_it():
    ended = threading.Event()
    pump = Pump(ended.set)
    first = Served(pump, turns=2)
    second = Served(pump, enough=lambda: first.last is not None)
    assert pump.attend(second)
    assert pump.attend(first)
    assert ended.wait(LIMIT)
    assert (first.last, second.last) == (False, True)
    assert len({*first.threads, *second.threads}) == 1


def test_one_that_is_dismissed_from_elsewhere():
    ended = threading.Event()
    pump = Pump(ended.set)
    some = Served(pump, turns=-1)
    some.flush_secs = float(LIMIT)
    pump.attend(some)
    assert pump.dismiss(some) is False
    assert ended.wait(LIMIT / 2)    # it does not sleep through this
    pump.wait(LIMIT)


def test_it_comes_when_it_is_called():
    pump = Pump(lambda: None)
    some = Served(pump, turns=4)
    some.flush_secs = float(2 * LIMIT)
    pump.attend(some)
    for turns in (1, 2, 3, 4):
        pump.wake()
        pump.wake()    # again before it was heard
        wait_for(lambda turns=turns: len(some.threads) >= turns)


@pytest.mark.parametrize("by_me", [False, True])
def test_syncs_are_done_by_a_thread_of_their_own_or_by_one_that_took_them_over(by_me):
    syncer, done = Syncer(), []
    syncer.ask(lambda: done.append(threading.current_thread()), by_me=by_me)
    syncer.ask(lambda: done.append(threading.current_thread()))
    syncer.carry_out()
    wait_for(lambda: len(done) == 2)
    assert all((thread is threading.current_thread()) is by_me for thread in done)


def test_a_resting_writer_takes_no_turn_and_wakes_for_a_value(tmp_path, monkeypatch):
    monkeypatch.setattr(desk, "_REST_SECS", float("inf"))    # not even now and then
    with SummaryRecord(tmp_path, flush_secs=0.005) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
        record.flush()
        some = record._writer.desk
        wait_for(lambda: some._at_rest)
        turns, turn = [], some.turns.take
        some.turns.take = lambda: turns.append(1) or turn()
        time.sleep(0.1)
        assert turns == []
        record.add_value("scalar", "loss", 2.0)
        record.record(2)
        wait_for(lambda: record.stats()["written"] == 2)    # without a flush
        assert turns
    assert events.both(tmp_path) == [(1, 1.0), (2, 2.0)]
