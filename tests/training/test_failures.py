"""Exceptions of callbacks: the user's pass through, those of a fail-safe callback are told once and go no further."""

from __future__ import annotations

import pytest

from summarykit.training import Callback, Loop, Status
from summarykit.training.callback import HOOKS


def failing(hook, fail_safe):
    def fail(self, *args):
        self.seen += 1
        raise OSError(f"failed in {hook}")

    return type("Failing", (Callback,), {hook: fail, "seen": 0, "fail_safe": fail_safe})()


class Closed(Callback):
    def __init__(self):
        self.closed = 0

    def __exit__(self, *error):
        self.closed += 1


def train(callbacks, epochs=2):
    loop = Loop(train_dataset=range(3), epochs=epochs, callbacks=callbacks)
    with loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                pass
            with loop.evaluation([0]):
                list(loop.steps())
    return loop


EVERY = (*HOOKS, "__enter__", "__exit__")


@pytest.mark.parametrize("hook", EVERY)
def test_a_users_exception_passes_through_and_closes_all(hook):
    others = [Closed(), Closed()]
    loop = Loop(train_dataset=range(3), epochs=2, callbacks=[others[0], failing(hook, False), others[1]])
    with pytest.raises(OSError, match=f"failed in {hook}"), loop:
        for _ in loop.epochs():
            list(loop.steps())
            with loop.evaluation([0]):
                list(loop.steps())
    assert loop.status is Status.FAILED
    assert others[0].closed >= 1
    assert others[1].closed >= (0 if hook == "__enter__" else 1)


@pytest.mark.parametrize("hook", EVERY)
def test_an_exception_of_a_fail_safe_callback_is_told_once(hook, caplog):
    callback, other = failing(hook, True), Closed()
    loop = train([callback, other])
    assert loop.status is Status.FINISHED
    assert callback.seen >= 1
    assert other.closed == 3
    assert [f"failed in {hook}" in message for message in caplog.messages] == [True]


def test_a_fail_safe_callback_stays_in_use(caplog):
    callback = failing("step_end", True)
    train([callback])
    assert callback.seen == 2 * (3 + 1)
    assert "Traceback" in caplog.text


def test_ctrl_c_inside_a_fail_safe_callback_is_ctrl_c():
    class Slow(Callback):
        fail_safe = True

        def step_end(self, context):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train([Slow()])


def test_a_callback_cannot_swallow_the_loops_exception():
    class Swallows(Callback):
        def __exit__(self, *error):
            return True

    with pytest.raises(ValueError, match="mine"), Loop(train_dataset=[0], callbacks=Swallows()) as loop:
        for _ in loop.steps():
            raise ValueError("mine")
    assert loop.status is Status.FAILED
