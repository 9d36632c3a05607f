"""StopAtStep and StopAtEpoch: exactly the steps that were asked for, whatever the loop does."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator

import pytest

from summarykit import CallbackList, Loop, Profiler, RunContext, StopAtEpoch, StopAtStep
from summarykit.profiler.merging import recorded
from summarykit.profiler.recording import Category
from summarykit.training.marks import MARKS


@pytest.fixture
def profiler(tmp_path) -> Profiler:
    return Profiler(tmp_path, start_profile=False, collectors=[])


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.WARNING, "summarykit")
    return lambda: [record.getMessage() for record in caplog.records]


def steps(profiler: Profiler) -> list[list[int]]:
    """The numbers of the steps in each window."""
    found = []
    for window in profiler.windows:
        (recording,) = recorded(window.records)
        table = recording.tables.get("steps")
        found.append([] if table is None else table["step"].tolist())
    return found


def train(callback: object, count: int = 8, epochs: int = 1, **options: object) -> Loop:
    loop = Loop(train_dataset=range(count), epochs=epochs, callbacks=[callback], **options)    # type: ignore[list-item]
    with loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(loss=1.0)
    return loop


def test_pr5_exactly_the_steps_that_were_asked_for(profiler):
    train(StopAtStep(3, 5, profiler=profiler))
    assert steps(profiler) == [[3, 4, 5]]


@pytest.mark.parametrize("first", [1, 2, 3, 4])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_windows_at_any_place(profiler, first, length):
    last = first + length - 1
    train(StopAtStep(first, last, profiler=profiler), count=2, epochs=4)
    assert steps(profiler) == [list(range(first, last + 1))]


def test_the_wait_for_the_first_batch_belongs_to_the_first_step(profiler):
    train(StopAtStep(1, 2, profiler=profiler))
    (recording,) = recorded(profiler.windows[0].records)
    waits = recording.spans.start[recording.spans.of(Category.PHASE)]
    assert len(waits) == 2
    assert waits.tolist() == recording.tables["steps"]["start"].tolist()


def test_several_windows(profiler):
    train(StopAtStep([(1, 2), (4, 4), (6, 7)], profiler=profiler))
    assert steps(profiler) == [[1, 2], [4], [6, 7]]


def test_windows_that_touch_are_two(profiler):
    train(StopAtStep([(2, 3), (4, 5)], profiler=profiler))
    assert [number for window in steps(profiler) for number in window] == [2, 3, 4, 5]


def test_pr4_a_window_that_is_never_reached_is_said(profiler, said):
    train(StopAtStep(10, 15, profiler=profiler), count=5)
    assert said() == ["StopAtStep(10, 15): the training ended at step 5: 0 steps were recorded"]
    assert profiler.analyse().profiles == []


def test_a_training_that_ends_right_before_the_window_is_said(profiler, said):
    train(StopAtStep(6, 7, profiler=profiler), count=5)
    assert "0 steps were recorded" in said()[0]


def test_an_early_end_keeps_what_there_was(profiler):
    train(StopAtStep(3, 50, profiler=profiler), count=5)
    assert steps(profiler) == [[3, 4, 5]]
    assert not profiler.recording


def test_pr3_an_exception_closes_the_window(profiler):
    loop = Loop(train_dataset=range(8), callbacks=[StopAtStep(2, 6, profiler=profiler)])
    with pytest.raises(ZeroDivisionError), loop:
        for batch in loop.steps():
            if batch == 3:
                raise ZeroDivisionError
    assert steps(profiler) == [[2, 3]]
    assert not profiler.recording
    train(StopAtStep(1, 1, profiler=profiler))
    assert steps(profiler)[1] == [1]


def test_evaluations_are_no_steps_and_no_part_of_them(profiler):
    callback = StopAtStep(2, 3, profiler=profiler)
    loop = Loop(train_dataset=range(2), epochs=2, callbacks=[callback])
    with loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(loss=1.0)
            with loop.evaluation(range(5)):
                evaluated = list(loop.steps())
    assert evaluated == list(range(5))
    assert steps(profiler) == [[2, 3]]
    (recording,) = recorded(profiler.windows[0].records)
    table = recording.tables["steps"]
    assert table["start"][1] > table["end"][0]    # the evaluation lies between


def test_a_run_that_goes_on_counts_from_where_it_was(profiler):
    train(StopAtStep(101, 102, profiler=profiler), initial_step=100)
    assert steps(profiler) == [[101, 102]]


def test_a_step_left_by_break_is_not_recorded_twice(profiler):
    loop = Loop(train_dataset=range(4), epochs=2, callbacks=[StopAtStep(1, 10, profiler=profiler)])
    with loop:
        for _ in loop.epochs():
            for batch in loop.steps():
                if batch == 2:
                    break
                loop.report(loss=1.0)
    assert steps(profiler) == [[1, 2, 3, 4]]


def test_a_training_within_a_step_of_another_does_no_harm(profiler):
    loop = Loop(train_dataset=range(4), callbacks=[StopAtStep(2, 3, profiler=profiler)])
    with loop:
        for _ in loop.steps():
            with Loop(train_dataset=range(2)) as inner:
                for _ in inner.steps():
                    inner.report(loss=0.0)
            loop.report(loss=1.0)
    assert steps(profiler) == [[2, 3]]


def test_a_training_that_was_left_without_an_end_does_no_harm(profiler):
    """As frameworks leave one whose step raised: nobody tells of its end, and its objects may live on."""
    left = Loop(train_dataset=range(3)).steps()
    next(left)
    with Loop(train_dataset=range(6), callbacks=[StopAtStep(3, 5, profiler=profiler)]) as loop:
        for _ in loop.steps():
            loop.report(loss=1.0)
    assert steps(profiler) == [[3, 4, 5]]
    left.close()


def test_a_training_that_nobody_holds_is_not_kept():
    loop = Loop(train_dataset=range(3))
    with loop:
        for _ in loop.steps():
            loop.report(loss=1.0)
            gone = MARKS.running[-1]
            assert gone() is MARKS.training
    assert not MARKS.running
    del loop
    gc.collect()
    assert gone() is None


class Hooks:
    """A framework that calls the hooks of callbacks as it likes."""

    def __init__(self, callback: object) -> None:
        self.callbacks = CallbackList([callback])    # type: ignore[list-item]
        self.context = RunContext({"cur_step_num": 0})

    def run(self, numbers: Iterator[tuple[int, int]]) -> None:
        params = self.context.original_args()
        with self.callbacks.entered():
            self.callbacks.fire("on_train_begin", self.context)
            for begin, end in numbers:
                params["cur_step_num"] = begin
                self.callbacks.fire("on_train_step_begin", self.context)
                params["cur_step_num"] = end
                self.callbacks.fire("on_train_step_end", self.context)
            self.callbacks.fire("on_train_end", self.context)


def test_in_any_framework_that_calls_the_hooks(profiler):
    Hooks(StopAtStep(2, 3, profiler=profiler)).run((number, number) for number in range(1, 6))
    assert steps(profiler) == [[2, 3]]


def test_cb1_an_update_of_four_micro_batches_is_one_step(profiler):
    """Micro-batches 1 to 8 are two steps; the window holds all of them, and carries the numbers of the updates."""
    loop = Loop(train_dataset=range(12), accumulation=4, callbacks=[StopAtStep(1, 2, profiler=profiler)])
    with loop:
        for _ in loop.steps():
            with profiler.phase("forward"):
                pass
            loop.report(loss=1.0)
    assert steps(profiler) == [[1, 2]]
    (recording,) = recorded(profiler.windows[0].records)
    spans = recording.spans
    forward = [start for start, name in zip(spans.start, spans.name, strict=True) if spans.names[name] == "forward"]
    table = recording.tables["steps"]
    counts = [sum(start <= moment < end for moment in forward) for start, end in zip(table["start"], table["end"], strict=True)]
    assert counts == [4, 4]


def test_hooks_that_come_once_for_ten_steps(profiler, said):
    Hooks(StopAtStep(23, 27, profiler=profiler)).run((number + 1, number + 10) for number in range(0, 60, 10))
    assert steps(profiler) == [[30]]    # the ten steps that hold the range
    assert any("once for 10 steps" in text and "StopAtEpoch" in text for text in said())


def test_epochs(profiler):
    train(StopAtEpoch(2, 3, profiler=profiler), count=2, epochs=4)
    assert steps(profiler) == [[3, 4, 5, 6]]


def test_several_stretches_of_epochs(profiler, said):
    train(StopAtEpoch([(1, 1), (3, 3), (9, 9)], profiler=profiler), count=2, epochs=4)
    assert steps(profiler) == [[1, 2], [5, 6]]
    assert said() == ["StopAtEpoch(9, 9): the training ended at epoch 4: 0 epochs were recorded"]


def test_a_profiler_that_records_already_goes_on(profiler, said):
    profiler.start()
    train(StopAtStep(2, 3, profiler=profiler))
    assert profiler.recording
    profiler.stop()
    assert steps(profiler) == [list(range(1, 9))]
    assert "records already" in said()[0]


def test_one_of_its_own_writes_and_is_analysed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    callback = StopAtStep(2, 3)
    train(callback)
    assert (tmp_path / "data/window_0001").is_dir()
    (profile,) = callback.report.profiles
    assert profile.recording.tables["steps"]["step"].tolist() == [2, 3]


def test_a_callback_may_run_again(profiler):
    callback = StopAtStep(2, 2, profiler=profiler)
    train(callback)
    train(callback)
    assert steps(profiler) == [[2], [2]]


def test_the_hooks_of_a_step_far_from_every_window_do_nothing(profiler):
    from summarykit.training.marks import unwatched

    callback = StopAtStep([(2, 2), (50, 50)], profiler=profiler)
    seen = {}
    loop = Loop(train_dataset=range(60), callbacks=[callback])
    with loop:
        for batch in loop.steps():
            seen[batch + 1] = callback.on_train_step_begin is unwatched
    assert not any(seen[step] for step in (1, 2, 50))
    assert all(seen[step] for step in range(4, 49))
    assert all(seen[step] for step in range(52, 60))
    assert steps(profiler) == [[2], [50]]
