"""Who waits for the pump: how long, and what that is counted by."""

from __future__ import annotations

import itertools
import time

from summarykit.writing.request import Request


class Late:
    """A lock that is taken at the tenth look; each look before takes as long as the machine likes."""

    def __init__(self, free_at=10):
        self.asked, self.free_at = [], free_at

    def acquire(self, timeout):
        self.asked.append(timeout)
        return len(self.asked) == self.free_at

    def release(self):
        pass


def waiting(lock):
    request = Request(lambda: True)
    request._done = lock
    return request


def test_what_is_done_is_told_at_once():
    request = Request(lambda: True)
    request.carry_out()
    assert request.wait(0.0, lambda: 0)
    assert request.wait(0.0, lambda: 0)


def test_a_wait_in_vain_ends():
    assert not Request(lambda: True).wait(0.01, lambda: 0)


def test_no_more_is_waited_than_was_asked_for():
    lock = Late()
    assert not waiting(lock).wait(0.6, lambda: 0)
    assert [round(each, 3) for each in lock.asked] == [0.25, 0.25, 0.1]


def test_progress_is_waited_for_as_long_as_it_lasts():
    lock = Late()
    assert not waiting(lock).wait(0.5, itertools.chain(range(3), itertools.repeat(3)).__next__)
    assert len(lock.asked) == 5    # two with progress, one that sees the last of it, and half a second more


def test_a_process_that_was_stopped_looks_once_more():
    """It goes on after longer than it wanted to wait, and so does the pump: nothing was in vain."""

    class Stopped(Late):
        def acquire(self, timeout):
            time.sleep(0.4)
            return super().acquire(timeout)

    request = waiting(Stopped(free_at=2))
    request.succeeded = True
    assert request.wait(0.3, lambda: 0)
