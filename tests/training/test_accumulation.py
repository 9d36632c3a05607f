"""Gradient accumulation: several (micro-)batches are one step."""

from __future__ import annotations

import pytest

from summarykit.training import Callback, Loop


class Seen(Callback):
    """Notes every step's beginning and end, with the micro-batch."""

    def __init__(self):
        self.events = []

    def on_train_step_begin(self, run_context):
        params = run_context.original_args()
        self.events.append(("begin", params.cur_step_num, params.micro_step))

    def on_train_step_end(self, run_context):
        params = run_context.original_args()
        self.events.append(("end", params.cur_step_num, params.micro_step, params.reported, params.train_dataset_element))


def run(data, accumulation, epochs=1, body=lambda loop, batch: loop.report(loss=batch)):
    seen, due = Seen(), []
    with Loop(train_dataset=data, epochs=epochs, callbacks=seen, accumulation=accumulation) as loop:
        for _ in loop.epochs():
            for batch in loop.steps():
                due.append(loop.update_due)
                if body(loop, batch):
                    break
    assert not loop.update_due
    return seen.events, due


def test_cb1_eight_micro_batches_of_four_are_two_steps():
    events, due = run(range(1, 9), 4)
    assert events == [("begin", 1, 1), ("end", 1, 4, {"loss": 4}, 4), ("begin", 2, 5), ("end", 2, 8, {"loss": 8}, 8)]
    assert due == [False, False, False, True] * 2


@pytest.mark.parametrize("sized", [True, False])
def test_what_is_left_at_the_end_of_the_data_is_a_step(sized):
    class Unsized:
        def __iter__(self):
            return iter(range(5))

    events, due = run(range(5) if sized else Unsized(), 2, epochs=2)
    assert [event[:3] for event in events if event[0] == "end"] == [("end", n, m) for n, m in enumerate((2, 4, 5, 7, 9, 10), 1)]
    assert due == [False, True, False, True, True] * 2


def test_a_batch_that_is_a_step_is_not_fetched_early():
    fetched = []

    def data():
        for number in range(3):
            fetched.append(number)
            yield number

    run(data(), 1, body=lambda loop, batch: fetched.append("used"))
    assert fetched == [0, "used", 1, "used", 2, "used"]


@pytest.mark.parametrize(("at", "steps"), [(3, [1]), (4, [1, 2])])
def test_a_break_within_a_step_leaves_only_whole_ones(at, steps):
    def body(loop, batch):
        loop.report(loss=batch)
        return batch == at

    events, _ = run(range(1, 9), 2, body=body)
    assert [event[1] for event in events if event[0] == "end"] == steps


@pytest.mark.parametrize(("at", "reported"), [(1, {}), (3, {"loss": 2}), (4, {"loss": 4})])
def test_of_a_step_that_never_was_nothing_is_told_at_the_end(at, reported):
    told = []

    class End(Callback):
        def on_train_end(self, run_context):
            params = run_context.original_args()
            told.append((params.reported, params.net_outputs, params.train_dataset_element))

    with Loop(train_dataset=range(1, 9), callbacks=End(), accumulation=2) as loop:
        for batch in loop.steps():
            loop.report(loss=batch)
            if batch == at:
                break
    assert told == [(reported, reported.get("loss"), 4 if at == 4 else None)]


def test_a_requested_stop_waits_for_the_update():
    events, due = run(range(1, 9), 4, body=lambda loop, batch: loop.request_stop())
    assert [event[1] for event in events if event[0] == "end"] == [1]
    assert len(due) == 4


def test_values_of_all_micro_batches_are_there_and_of_one_name_the_last():
    events, _ = run(range(4), 2, body=lambda loop, batch: loop.report({f"only/{batch}": 1, "loss": batch}))
    first, second = (event[3] for event in events if event[0] == "end")
    assert first == {"only/0": 1, "only/1": 1, "loss": 1}
    assert second == {"only/2": 1, "only/3": 1, "loss": 3}


def test_steps_per_epoch_are_counted_in_updates():
    loop = Loop(train_dataset=range(9), accumulation=4)
    with loop:
        assert loop._context.original_args().batch_num == 3
        for _ in loop.steps(range(5)):
            assert loop._context.original_args().batch_num == 2


def test_an_evaluation_counts_batches():
    with (loop := Loop(train_dataset=range(9), accumulation=4)).evaluation(range(5)):
        assert loop._context.original_args().batch_num == 5
        assert len([not loop.update_due for _ in loop.steps()]) == 5


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1, ValueError), (True, TypeError), (1.5, TypeError), ("2", TypeError)])
def test_a_bad_number_is_refused_by_name(value, error):
    with pytest.raises(error, match="accumulation"):
        Loop(accumulation=value)


def test_the_time_training_waits_for_data_adds_up(monkeypatch):
    now = iter(range(100))
    monkeypatch.setattr("summarykit.training.training.perf_counter", lambda: next(now))
    with Loop(train_dataset=range(3)) as loop:
        assert [loop._context.original_args().data_wait for _ in loop.steps()] == [1, 2, 3]
