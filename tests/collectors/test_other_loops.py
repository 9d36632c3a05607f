"""Loops that are not ours: MindSpore's fields and nothing else, epochs only, odd batches, accumulation, a run that goes on."""

from __future__ import annotations

import types

import numpy as np
import pytest

from summarykit.collectors import SummaryCollector
from summarykit.collectors.reported import loss_of
from summarykit.reading import Run
from summarykit.training import Loop, Status


class Params(dict):
    """As MindSpore has it: a missing field is a KeyError, also as an attribute."""

    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value


class Context:
    """Somebody else's run context."""

    def __init__(self, **fields):
        self.params = Params(fields)

    def original_args(self):
        return self.params


class Optimizer:
    """As MindSpore's: one rate, or one for each group."""

    def __init__(self, rate):
        self.rate = rate

    def get_lr(self):
        return self.rate


def fit(collector, steps=4, epochs=2, outputs=lambda step: np.array([1.0, 3.0]) / step, rate=0.5, evaluate=True, fail_at=None):
    """The hooks in the order that MindSpore's ``Model.fit`` calls them."""
    network = {"weight": np.ones((2, 2))}
    context = Context(
        mode="train", epoch_num=epochs, batch_num=steps, cur_step_num=0, network=network, train_network=network, loss_fn=None,
        optimizer=Optimizer(rate), train_dataset=range(steps), dataset_sink_mode=False, parallel_mode="stand_alone", device_number=1,
        list_callback=[collector], initial_step=0,
    )  # fmt: skip
    params = context.params
    with collector:
        collector.on_train_begin(context)
        for epoch in range(1, epochs + 1):
            params.cur_epoch_num = epoch
            collector.on_train_epoch_begin(context)
            for _ in range(steps):
                params.cur_step_num += 1
                params.train_dataset_element = (np.zeros((2, 1, 4, 4)), np.zeros(2))
                collector.on_train_step_begin(context)
                if params.cur_step_num == fail_at:
                    raise ValueError("bad")
                params.net_outputs = outputs(params.cur_step_num)
                collector.on_train_step_end(context)
            if evaluate:
                kept = {name: params[name] for name in ("mode", "cur_step_num", "batch_num")}
                params.update(mode="eval", cur_step_num=0, batch_num=3, valid_dataset=range(3))
                with collector:
                    collector.on_eval_begin(context)
                    for _ in range(3):
                        params.cur_step_num += 1
                        collector.on_eval_step_begin(context)
                        collector.on_eval_step_end(context)
                    params.metrics = {"accuracy": epoch / 10}
                    collector.on_eval_end(context)
                params.update(kept)
            collector.on_train_epoch_end(context)
            params.pop("metrics", None)
        collector.on_train_end(context)


def test_mindsporelike_loop(directory):
    fit(SummaryCollector(directory.path, 3))
    steps = directory.steps()
    assert steps["loss"] == steps["learning_rate"] == steps["weight/auto"] == steps["input_data/auto"] == [1, 3, 6, 8]
    np.testing.assert_allclose(directory.values("loss"), [2 / step for step in (1, 3, 6, 8)])
    assert set(directory.values("learning_rate")) == {0.5}
    assert steps["eval/accuracy"] == [4, 8]
    assert [tag for tag in steps if tag.startswith("eval/")] == ["eval/accuracy"]
    assert Run(directory.path).status == "FINISHED"


def test_mindsporelike_loop_that_fails(directory):
    with pytest.raises(ValueError, match="bad"):
        fit(SummaryCollector(directory.path, 3), fail_at=5)
    assert directory.steps()["loss"] == [1, 3, 4]    # the last that was whole
    assert Run(directory.path).status == "FAILED"


def test_mindsporelike_groups_of_parameters(directory):
    fit(SummaryCollector(directory.path, 100), rate=(0.5, 0.25))
    assert set(directory.values("learning_rate/0")) == {0.5}
    assert set(directory.values("learning_rate/1")) == {0.25}


def test_mindsporelike_evaluation_on_its_own(directory):
    collector = SummaryCollector(directory.path)
    context = Context(mode="eval", cur_step_num=0, batch_num=1, valid_dataset=range(1), eval_network=None, network=None)
    with collector:
        collector.on_eval_begin(context)
        context.params.update(cur_step_num=1, metrics={"accuracy": 0.5})
        collector.on_eval_end(context)
    assert directory.steps() == {"eval/accuracy": [0]}


def test_an_evaluation_after_the_training_is_at_its_last_step(directory):
    collector = SummaryCollector(directory.path)
    fit(collector, evaluate=False)
    with collector:
        collector.on_eval_begin(context := Context(mode="eval", cur_step_num=0))
        context.params.metrics = {"accuracy": 0.5}
        collector.on_eval_end(context)
    assert directory.steps()["eval/accuracy"] == [8]


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (np.float32(2), 2), (3, 3), (np.array([1.0, 2.0]), 1.5), ((np.array(1.0), np.array(9.0)), 1), ([(2.0,), 1], 2), ({"loss": 4.0}, 4),
        ({"logits": np.ones(3)}, None), ((), None), (None, None), ("text", None), ([[]], None), ({}, None),
    ],
    ids=str,
)  # fmt: skip
def test_the_loss_among_the_networks_outputs(outputs, expected):
    assert loss_of(outputs) == ({} if expected is None else {"loss": expected})


# --- loops of which little is known ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "batches",
    [
        [None] * 3, ["text"] * 3, [{}] * 3, [()] * 3, [{"x": None, "y": "text"}] * 3, [b"x"] * 3, [object()] * 3, [[]] * 3,
        [types.SimpleNamespace(shape=None)] * 3, [types.SimpleNamespace(shape="odd")] * 3, [iter(())] * 3,
    ],
    ids=lambda batches: type(batches[0]).__name__,
)  # fmt: skip
def test_im7_loops_that_yield_anything(directory, batches, caplog):
    for source in (batches, iter(batches)):
        with Loop({"w": np.ones(2)}, {"lr": 1}, source, 1, SummaryCollector(directory.path, 1)) as loop:
            for _ in loop.steps():
                loop.report(loss=1.0)
        assert loop.status is Status.FINISHED
    assert directory.steps()["loss"] == [1, 2, 3] * 2
    assert "failed" not in caplog.text


def test_cb4_a_loop_that_calls_back_once_an_epoch_without_steps(directory, caplog):
    collector, context = SummaryCollector(directory.path), Context(cur_step_num=0, network={"w": np.ones(2)}, epoch_num=3, batch_num=50)
    with collector:
        collector.on_train_begin(context)
        for epoch in (1, 2, 3):
            context.params.update(cur_epoch_num=epoch, cur_step_num=50 * epoch, net_outputs=float(epoch))
            collector.on_train_epoch_end(context)
        collector.on_train_end(context)
    assert directory.steps()["loss"] == directory.steps()["w/auto"] == [50, 100, 150]
    assert len([message for message in caplog.messages if "once every 50 steps" in message]) == 1


def test_a_loop_without_any_field_but_the_step(directory, caplog):
    collector, context = SummaryCollector(directory.path, 1), Context(cur_step_num=0)
    with collector:
        collector.on_train_begin(context)
        for step in (1, 2):
            context.params.cur_step_num = step
            collector.on_train_step_begin(context)
            collector.on_train_step_end(context)
        collector.on_train_end(context)
    assert "failed" not in caplog.text
    assert directory.steps()["throughput/steps_per_second"] == [1, 2]


# --- accumulation ---------------------------------------------------------------------------------------------------


def accumulate(directory, steps=16, accumulation=4):
    collector = SummaryCollector(directory.path, 1)
    with Loop({"w": np.ones(2)}, {"lr": 1}, range(1, steps + 1), 1, collector, accumulation=accumulation) as run:
        for batch in run.steps():
            run.report(loss=batch)


def test_cb1_one_point_for_each_update_and_the_micro_batch_beside_it(directory):
    accumulate(directory)
    steps = directory.steps()
    assert steps["loss"] == steps["learning_rate"] == steps["w/auto"] == steps["micro_step"] == [1, 2, 3, 4]
    assert directory.values("loss") == directory.values("micro_step") == [4, 8, 12, 16]


def test_micro_batches_are_not_told_where_a_batch_is_a_step(directory):
    accumulate(directory, accumulation=1)
    assert "micro_step" not in directory.steps()


def test_micro_batches_are_not_told_for_a_step_that_was_left(directory):
    with Loop(train_dataset=range(3), epochs=2, callbacks=SummaryCollector(directory.path, 1)) as loop:
        for _ in loop.epochs():
            for batch in loop.steps():
                if batch == 2:
                    break    # no step: it reports nothing
                loop.report(loss=1)
    assert directory.steps()["loss"] == [1, 2, 3, 4]
    assert "micro_step" not in directory.steps()


# --- a run that goes on ---------------------------------------------------------------------------------------------


def run(path, until, initial=0, value=1.0, fail_at=None, **arguments):
    with Loop(train_dataset=range(until - initial), callbacks=SummaryCollector(path, 1, **arguments), initial_step=initial) as loop:
        for _ in loop.steps():
            loop.report(loss=value)
            if loop.step == fail_at:
                raise ValueError("bad")


def test_a_run_that_goes_on_hides_what_the_earlier_one_did_beyond(directory):
    with pytest.raises(ValueError, match="bad"):
        run(directory.path, 10, fail_at=8)
    run(directory.path, 10, initial=5, value=2.0)    # from the checkpoint of step 5
    loss = Run(directory.path).scalars("loss")
    assert loss.step.tolist() == list(range(1, 11))
    assert loss.value.tolist() == [1] * 5 + [2] * 5
    assert len(Run(directory.path, raw=True).scalars("loss").step) == 8 + 5


def test_where_it_goes_on_can_be_said(directory):
    run(directory.path, 6)
    run(directory.path, 9, initial=4, value=2.0, resume=3)
    assert Run(directory.path).scalars("loss").step.tolist() == [1, 2, 5, 6, 7, 8, 9]


def test_a_second_run_that_does_not_go_on_hides_nothing(directory):
    run(directory.path, 4)
    run(directory.path, 2, value=2.0)
    assert Run(directory.path).scalars("loss").value.tolist() == [2, 2, 1, 1]


def test_the_same_collector_goes_on(directory):
    collector = SummaryCollector(directory.path, 1)
    for initial in (0, 3):
        with Loop(train_dataset=range(3), callbacks=collector, initial_step=initial) as loop:
            for _ in loop.steps():
                loop.report(loss=loop.step)
    assert Run(directory.path).scalars("loss").value.tolist() == [1, 2, 3, 4, 5, 6]
