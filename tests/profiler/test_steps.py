"""Where steps begin and end, whoever tells of them."""

from __future__ import annotations

from time import perf_counter_ns

from summarykit.profiler.steps import Steps
from summarykit.profiler.tape import Tape


class Listener:
    """Notes when it was told."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []

    def step_begin(self, step: int) -> None:
        self.begun.append(perf_counter_ns())

    def step_end(self, step: int) -> None:
        self.ended.append(perf_counter_ns())


def test_what_a_framework_does_between_two_steps_is_part_of_the_next():
    tape, listener = Tape(), Listener()
    steps = Steps(tape, [listener])
    steps.start()
    for step in (1, 2):
        steps.begin(step)
        steps.end(step)
    steps.stop()
    rows = tape.steps.take()
    assert rows["step"].tolist() == [1, 2]
    start, begin, end = (int(rows[name][1]) for name in ("start", "begin", "end"))
    assert listener.ended[0] <= start <= listener.begun[1] <= begin <= end <= listener.ended[1]


def test_what_listeners_take_is_no_part_of_a_step_told_by_hand():
    tape, listener = Tape(), Listener()
    steps = Steps(tape, [listener])
    steps.start()
    for _ in range(3):
        steps.step()
    steps.stop()
    rows = tape.steps.take()
    assert rows["step"].tolist() == [1, 2, 3]
    assert (rows["start"][1:] >= listener.begun[:2]).all()
