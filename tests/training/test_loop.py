"""The loop: however it is left, its callbacks are closed, its status tells the truth, and its steps are numbered."""

from __future__ import annotations

import gc
import logging
import weakref
from contextlib import ExitStack

import pytest

from summarykit.training import Callback, Loop, Status


class Trace(Callback):
    """Notes the hooks that mark beginnings and ends, with the step."""

    def __init__(self):
        self.calls: list[tuple[str, int]] = []
        self.status: list[Status] = []
        self.params = None

    def note(self, what, context):
        self.params = context.original_args()
        self.calls.append((what, self.params.cur_step_num))

    def __exit__(self, kind, error, trace):
        self.status.append(self.params.status)
        self.calls.append(("exit", kind.__name__ if kind else None))

    def on_train_begin(self, context):
        self.note("begin", context)

    def on_train_step_end(self, context):
        self.note("step", context)

    def on_train_epoch_end(self, context):
        self.note("epoch", context)

    def on_train_end(self, context):
        self.note("end", context)

    @property
    def steps(self):
        return [number for what, number in self.calls if what == "step"]

    @property
    def kinds(self):
        return [what for what, _ in self.calls if what != "step"]


ENDED = ["begin", "epoch", "end", "exit"]


@pytest.fixture
def trace():
    return Trace()


@pytest.fixture
def make(trace):
    return lambda data=range(3), epochs=1, **more: Loop(train_dataset=data, epochs=epochs, callbacks=[trace], **more)


def test_a_whole_run(trace, make):
    with make(epochs=2) as loop:
        assert loop.status is Status.RUNNING
        assert list(loop.epochs()) == [1, 2]
    assert loop.status is Status.FINISHED
    with make(epochs=2) as loop:
        for _ in loop.epochs():
            assert [loop.step for _ in loop.steps()] in ([1, 2, 3], [4, 5, 6])
    assert trace.steps == [1, 2, 3, 4, 5, 6]
    assert trace.status == [Status.FINISHED, Status.FINISHED]


@pytest.mark.parametrize(
    ("error", "status"),
    [(ValueError, Status.FAILED), (MemoryError, Status.FAILED), (KeyboardInterrupt, Status.INTERRUPTED), (SystemExit, Status.INTERRUPTED)],
)
def test_ru1_an_exception_closes_all_and_marks_the_run(trace, make, error, status):
    raised = error("at step 2")
    with pytest.raises(error) as caught, make() as loop:
        for _ in loop.epochs():
            for batch in loop.steps():
                loop.report(loss=1.0)
                if batch == 1:
                    raise raised
    assert caught.value is raised
    assert loop.status is status
    assert trace.status == [status]
    assert trace.params.exception is raised
    assert trace.calls == [("begin", 0), ("step", 1), ("exit", error.__name__)]


def test_ru1_the_traceback_shows_the_users_line_and_no_more(make):
    def training():
        with make() as loop:
            for _ in loop.steps():
                raise ValueError("here")

    with pytest.raises(ValueError, match="here") as caught:
        training()
    assert [entry.name for entry in caught.traceback][1:] == ["training"]


def test_an_exception_outside_the_steps_and_inside_an_evaluation(trace, make):
    with pytest.raises(ZeroDivisionError), make() as loop:
        for _ in loop.epochs():
            list(loop.steps())
            with loop.evaluation([0]):
                for _ in loop.steps():
                    _ = 1 / 0
    assert trace.calls[-2:] == [("exit", "ZeroDivisionError")] * 2
    assert (loop.status, trace.params.mode, trace.params.cur_step_num) == (Status.FAILED, "train", 3)


def test_an_error_of_the_data_set_fails_the_run(trace, make):
    def broken():
        yield 1
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"), make(broken()) as loop:
        for _ in loop.steps():
            loop.report(loss=1)
    assert (trace.steps, loop.status) == ([1], Status.FAILED)


def test_break_out_of_the_inner_loop(trace, make):
    with make(range(10), epochs=2) as loop:
        for _ in loop.epochs():
            for batch in loop.steps():
                loop.report(loss=batch)
                if batch == 1:
                    break
    assert trace.steps == [1, 2, 3, 4]
    assert trace.kinds == ["begin", "epoch", "epoch", "end", "exit"]


def test_break_out_of_both_loops(trace, make):
    def training():
        with loop:
            for _ in loop.epochs():
                for batch in loop.steps():
                    loop.report(loss=batch)
                    if batch == 1:
                        return

    loop = make(range(10), epochs=5)
    training()
    assert (trace.steps, trace.kinds, loop.status) == ([1, 2], ENDED, Status.FINISHED)


def test_a_step_left_by_break_without_a_report_never_was(trace, make):
    with make(range(10)) as loop:
        for _ in loop.epochs():
            for batch in loop.steps():
                if batch == 2:
                    break
                loop.report(loss=batch)
            assert loop.step == 3
    assert trace.steps == [1, 2]
    assert trace.calls[-2] == ("end", 2)


def test_steps_after_a_break_count_on_in_the_same_epoch(trace, make):
    with make(range(2)) as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(loss=1)
                break
            for _ in loop.steps():
                pass
    assert trace.steps == [1, 2, 3]
    assert trace.kinds == ENDED


def test_a_stop_request_ends_after_the_step(trace, make):
    with make(range(10), epochs=5) as loop:
        for _ in loop.epochs():
            for batch in loop.steps():
                if batch == 1:
                    loop.request_stop()
    assert (trace.steps, trace.kinds, loop.status) == ([1, 2], ENDED, Status.FINISHED)


def test_a_callback_may_stop_the_training():
    class StopAt(Callback):
        def step_end(self, context):
            if context.original_args().cur_step_num == 2:
                context.request_stop()

    with Loop(train_dataset=range(10), epochs=3, callbacks=StopAt()) as loop:
        assert sum(1 for _ in loop.epochs() for _ in loop.steps()) == 2


def test_a_stop_request_does_not_cut_an_evaluation_short(make):
    with make() as loop:
        for _ in loop.steps():
            loop.request_stop()
        with loop.evaluation(range(5)):
            assert list(loop.steps()) == [0, 1, 2, 3, 4]


def test_without_with_the_run_ends_by_itself(trace, make):
    loop = make(epochs=2)
    for _ in loop.epochs():
        for _ in loop.steps():
            pass
    assert (trace.steps, trace.kinds) == ([1, 2, 3, 4, 5, 6], ["begin", "epoch", "epoch", "end", "exit"])
    assert loop.status is Status.FINISHED


def test_without_with_a_break_ends_the_run(trace, make):
    loop = make(epochs=2)
    for _ in loop.epochs():
        for _ in loop.steps():
            loop.report(loss=1)
            break
        break
    gc.collect()
    assert (trace.steps, trace.kinds, loop.status) == ([1], ENDED, Status.INTERRUPTED)


def test_without_with_an_exception_ends_the_run(trace, make):
    loop = make()
    with pytest.raises(ValueError, match="mine"):
        for _ in loop.epochs():
            for _ in loop.steps():
                raise ValueError("mine")
    gc.collect()
    assert (trace.steps, trace.kinds, loop.status) == ([], ENDED, Status.INTERRUPTED)


def test_steps_without_epochs_are_one_epoch(trace, make):
    loop = make()
    assert list(loop.steps()) == [0, 1, 2]
    assert (trace.steps, trace.kinds, loop.status) == ([1, 2, 3], ENDED, Status.FINISHED)


@pytest.mark.parametrize("again", ["same loop", "new loop"])
def test_cb6_callbacks_serve_a_second_run(trace, make, again):
    loop = make()
    with pytest.raises(KeyboardInterrupt), loop:
        for batch in loop.steps():
            if batch == 1:
                raise KeyboardInterrupt
    with loop if again == "same loop" else make() as second:
        list(second.steps())
    assert trace.steps == [1, 1, 2, 3]
    assert trace.status == [Status.INTERRUPTED, Status.FINISHED]


def test_a_loop_cannot_run_inside_itself(make):
    with make() as loop, pytest.raises(RuntimeError, match="already running"), loop:
        pass


def test_no_evaluation_and_no_epoch_inside_an_evaluation(make):
    with make() as loop, loop.evaluation():
        with pytest.raises(RuntimeError, match="inside an evaluation"), loop.evaluation():
            pass
        with pytest.raises(RuntimeError, match="inside an evaluation"):
            next(loop.epochs())


class NoLength:
    def __len__(self):
        raise TypeError("has no len()")

    def __iter__(self):
        return iter(range(3))


@pytest.mark.parametrize("data", [iter(range(3)), (n for n in range(3)), NoLength()], ids=["iterator", "generator", "no length"])
def test_a_data_set_without_a_length(trace, make, data):
    with make(data) as loop:
        for _ in loop.epochs():
            list(loop.steps())
    assert trace.steps == [1, 2, 3]
    assert trace.params.batch_num is None


def test_a_used_up_iterator_is_told_once(make, caplog):
    with caplog.at_level(logging.WARNING, "summarykit"), make(iter(range(3)), epochs=4) as loop:
        assert [len(list(loop.steps())) for _ in loop.epochs()] == [3, 0, 0, 0]
    assert [record.message for record in caplog.records if "gave no batch" in record.message] == [caplog.messages[0]]


@pytest.mark.parametrize("batch", [{"x": 1}, (1, 2), None, "text", [], object()])
def test_a_batch_of_any_kind_comes_as_it_is(trace, make, batch):
    with make([batch, batch]) as loop:
        for given in loop.steps():
            assert given is batch
            assert loop.step in (1, 2)
    assert trace.steps == [1, 2]


def test_another_data_set_for_one_epoch(trace, make):
    with make() as loop:
        for _ in loop.epochs():
            assert list(loop.steps("ab")) == ["a", "b"]
            assert trace.params.batch_num == 2
    assert trace.steps == [1, 2]


def test_no_data_set_at_all(make):
    with pytest.raises(ValueError, match="no data set"), make(None) as loop:
        next(loop.steps())


@pytest.mark.parametrize("name", ["epochs", "initial_epoch", "initial_step"])
@pytest.mark.parametrize(("value", "error"), [(True, TypeError), (1.0, TypeError), ("3", TypeError), (None, TypeError), (-1, ValueError)])
def test_a_bad_count_is_refused_by_name(name, value, error):
    with pytest.raises(error, match=f"^{name} must be .*{value!r}"):
        Loop(**{name: value})


def test_an_evaluation_in_the_middle_of_a_step(trace, make):
    with make() as loop:
        for batch in loop.steps():
            loop.report(loss=batch)
            with loop.evaluation([0, 0, 0, 0, 0]):
                for _ in loop.steps():
                    loop.report(accuracy=1.0, loss=99.0)
                assert loop.step == batch + 1
            assert trace.params.get("reported", {}).get("loss", batch) == batch
            loop.report(more=1)
    assert trace.steps == [1, 2, 3]


def test_an_evaluation_on_its_own():
    seen = []

    class Eval(Callback):
        def begin(self, context):
            seen.append(context.original_args().mode)

        def on_eval_end(self, context):
            seen.append(context.original_args().metrics)

    loop = Loop(callbacks=Eval())
    with loop.evaluation(range(3)):
        for _ in loop.steps():
            loop.report(accuracy=0.5)
    assert seen == ["eval", {"accuracy": 0.5}]


def test_cb10_an_evaluation_without_data_or_over_a_generator(trace, make):
    with make(epochs=2) as loop:
        for epoch in loop.epochs():
            list(loop.steps())
            with loop.evaluation(None if epoch == 1 else (n for n in range(2))):
                assert epoch == 1 or list(loop.steps()) == [0, 1]
                loop.report(accuracy=1.0)
    assert trace.steps == [1, 2, 3, 4, 5, 6]


def test_reports_are_held_as_they_are(make):
    class Untouchable:
        def __getattribute__(self, name):
            raise AssertionError(f"nobody may ask for {name}")

    value = Untouchable()
    with make() as loop:
        for _ in loop.steps():
            loop.report({"nested": {"a": value}}, loss=value)


def test_a_report_of_an_earlier_step_is_not_kept(trace, make):
    seen = []

    class Look(Callback):
        def step_end(self, context):
            params = context.original_args()
            seen.append((dict(params.reported), params.get("net_outputs")))

    with Loop(train_dataset=range(2), callbacks=Look()) as loop:
        for batch in loop.steps():
            if batch == 0:
                loop.report(loss=5)
    assert seen == [({"loss": 5}, 5), ({}, None)]


def test_a_report_outside_a_run_is_told(make, caplog):
    make().report(loss=1)
    assert "outside a run" in caplog.text


def test_nothing_of_the_run_is_held_afterwards():
    class Big:
        pass

    loop = Loop(train_dataset=iter([Big()]))
    for batch in loop.steps():
        held = weakref.ref(batch)
        loop.report(loss=batch)
        del batch
    gc.collect()
    assert held() is None


@pytest.mark.parametrize("dataset", [5, 1.5, object(), len], ids=repr)
@pytest.mark.parametrize("where", ["train_dataset", "steps", "evaluation"])
def test_what_gives_no_batches_is_told_before_a_step(where, dataset):
    with Loop(train_dataset=dataset if where == "train_dataset" else None) as loop:
        with pytest.raises(TypeError, match=r"steps\(\): a data set that gives batches is needed, got"), ExitStack() as around:
            if where == "evaluation":
                around.enter_context(loop.evaluation(dataset))
            next(loop.steps(dataset if where == "steps" else None))
        assert loop.step == 0


@pytest.mark.parametrize("values", ["loss", 3, [1, 2], [("loss", 1)]], ids=repr)
def test_what_is_no_mapping_is_no_report(values):
    with Loop(train_dataset=range(2)) as loop:
        for _ in loop.steps():
            with pytest.raises(TypeError, match=r"report\(\): a mapping of names to values is needed, got"):
                loop.report(values)
            loop.report({}, loss=1.0)
