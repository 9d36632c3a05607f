"""How fast training is, by a clock that the test turns."""

from __future__ import annotations

import types

import numpy as np
import pytest

from summarykit.collectors import SummaryCollector, throughput
from summarykit.collectors.throughput import batch_size
from summarykit.integrations.driver import Driver
from summarykit.training import CallbackList, Loop, RunContext, training


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the test moves, for the part and for the loop."""
    now = types.SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(throughput.time, "perf_counter", lambda: now.seconds)
    monkeypatch.setattr(training, "perf_counter", lambda: now.seconds)
    return now


@pytest.fixture
def collector(directory, quiet):
    return SummaryCollector(directory.path, 10, collect_specified_data=quiet("collect_throughput"))


def series(directory, name):
    return dict(zip(directory.steps().get(f"throughput/{name}", []), directory.values(f"throughput/{name}"), strict=True))


def test_steps_samples_and_waiting_since_the_step_collected_before(directory, clock, collector):
    def data():
        for _ in range(25):
            clock.seconds += 0.25    # the loader takes that long
            yield np.zeros((8, 3)), np.zeros(8)

    with Loop(train_dataset=data(), callbacks=collector) as loop:
        for _ in loop.steps():
            clock.seconds += 0.75
    assert series(directory, "steps_per_second") == dict.fromkeys((1, 10, 20, 25), 1.0)
    assert series(directory, "samples_per_second") == dict.fromkeys((1, 10, 20, 25), 8.0)
    assert series(directory, "data_wait_share") == dict.fromkeys((1, 10, 20, 25), 0.25)


def test_a_loop_that_does_not_measure_it_says_nothing_of_waiting(directory, collector):
    driver = Driver(collector)
    driver.train_begin(batch_num=3, epoch_num=1)
    for _ in range(3):
        driver.step_begin(np.zeros(8))
        driver.step_end({"loss": 1})
    driver.train_end()
    assert directory.steps()["throughput/samples_per_second"] == [1, 3]
    assert "throughput/data_wait_share" not in directory.steps()


def test_an_evaluation_stops_the_clock(directory, clock, collector):
    with Loop(train_dataset=range(10), epochs=2, callbacks=collector) as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                clock.seconds += 0.5
            with loop.evaluation():
                clock.seconds += 1000
    assert series(directory, "steps_per_second") == dict.fromkeys((1, 10, 20), 2.0)


def test_cb1_samples_of_all_micro_batches_count(directory, clock, collector):
    with Loop(train_dataset=[np.zeros(8)] * 40, callbacks=collector, accumulation=4) as loop:
        for _ in loop.steps():
            clock.seconds += 0.25
    assert series(directory, "steps_per_second") == {1: 1.0, 10: 1.0}
    assert series(directory, "samples_per_second") == {1: 32.0, 10: 32.0}


def test_cb4_many_steps_at_once(directory, clock, collector):
    callbacks, context = CallbackList(collector), RunContext({"cur_step_num": 0})
    with callbacks.entered():
        callbacks.fire("on_train_begin", context)
        clock.seconds += 10
        context.original_args().update(cur_step_num=100, train_dataset_element=np.zeros(4))
        callbacks.fire("on_train_step_end", context)
        callbacks.fire("on_train_end", context)
    assert series(directory, "steps_per_second") == {100: 10.0}
    assert series(directory, "samples_per_second") == {100: 40.0}
    assert "throughput/data_wait_share" not in directory.steps()


@pytest.mark.parametrize(
    ("batch", "size"),
    [
        (np.zeros((8, 3)), 8), ((np.zeros((8, 3)), np.zeros(4)), 8), ([np.zeros(8)], 8), ({"ids": np.zeros((8, 3))}, 8), (None, None),
        (np.zeros(()), None), ("text", None), (["a", "b"], None), ({}, None), ([], None), (3, None), ({"x": "y"}, None),
        (types.SimpleNamespace(shape=(None, 3)), None),
    ],
    ids=str,
)  # fmt: skip
def test_the_size_of_a_batch(batch, size):
    assert batch_size(batch) == size
