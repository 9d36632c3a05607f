"""Turns: one thread at a time, and a thread that has worked on values takes one where it is nobody's."""

from __future__ import annotations

import threading

import numpy as np

from summarykit import SummaryRecord
from summarykit.writing.turns import Turns


def test_a_free_turn_is_taken_and_tells_whether_more_is_waiting():
    turns, taken = Turns(lambda: False, print), []
    assert [turns.take_free(lambda more=more: taken.append(more) or more) for more in (True, False)] == [True, False] == taken


def test_the_turn_of_another_thread_is_left_to_it():
    """It must look again: so more is waiting."""
    turns, taken, begun, over = Turns(lambda: begun.set() or over.wait(100.0), print), [], threading.Event(), threading.Event()
    other = threading.Thread(target=turns.take)
    other.start()
    assert begun.wait(100.0)
    assert turns.take_free(lambda: taken.append(1) or False)
    over.set()
    other.join()
    assert taken == []
    assert not turns.take_free(lambda: taken.append(1) or False)
    assert taken == [1]


def test_what_fails_in_a_free_turn_is_said_and_the_turn_is_free_again():
    said = []
    turns = Turns(lambda: True, lambda key, *_: said.append(key))
    assert not turns.take_free(lambda: 1 // 0)
    assert said == [("turn", ZeroDivisionError)]
    assert turns.take()


def test_every_flush_finds_what_a_thread_of_its_own_has_made(tmp_path):
    """The pump is not to come for 100 s: whoever waits for pictures is answered when the last of them is in the file."""
    pixels = np.random.default_rng(0).integers(0, 256, (256, 256, 3), np.uint8)
    with SummaryRecord(tmp_path, flush_secs=100.0) as record:
        for step in range(30):
            record.add_value("image", "input", pixels)
            record.record(step)
            if step % 10 == 9:
                assert record.flush()
                assert record.stats()["written"] == step + 1
    assert record.stats()["dropped"] == {}
