"""Faults of a made-up training, at strengths drawn at random: the advice fires, and promises what taking the fault away gains."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from testkit.simulated import Training

from summarykit.profiler.advice import Advice
from summarykit.profiler.advice.tiny_batches import LARGER
from summarykit.profiler.analysis import analyse, compare
from summarykit.profiler.recording import Table

HEALTHY = Training()
SIZES = {"load": (0.5, 3.0), "sync": (0.25, 2.0), "logging": (0.25, 2.0), "pause": (1.5, 10.0)}
"""Strengths, as shares of a healthy step; a pause comes in every fifth. Each is more than 5 % of a step also beside the largest other."""
RULES = {"load": "single_threaded", "sync": "sync", "logging": "logging", "pause": "gc"}


def advice_on(training: Training, **meta) -> dict[str, Advice]:
    return {advice.rule: advice for advice in analyse(training.recorded(**meta)).advice}


def faulty(faults: dict[str, float], seed: int) -> Training:
    strength = {name: share * HEALTHY.step_time() for name, share in faults.items()}
    return HEALTHY.without(seed=seed, **strength)


def repaired(training: Training, fault: str, advice: Advice) -> Training:
    """What the advice says is done."""
    if fault == "load":
        return training.without(workers=int(re.search(r"num_workers=(\d+)", advice.change)[1]))
    return training.without(**{fault: 0.0})


def faults(count: int):
    names = st.lists(st.sampled_from(sorted(SIZES)), min_size=count, max_size=count, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: st.floats(*SIZES[name]) for name in chosen}))


@settings(max_examples=25)
@given(faults(1) | faults(2), st.integers(0, 10**6))
def test_each_fault_is_found_and_the_gain_comes(chosen, seed):
    training = faulty(chosen, seed)
    found = advice_on(training)
    assert set(found) == {RULES[name] for name in chosen}
    before = training.step_time()
    for name in chosen:
        advice = found[RULES[name]]
        gained = before - repaired(training, name, advice).step_time()
        assert advice.gain_ms == pytest.approx(gained, rel=0.25)
        assert advice.gain == pytest.approx(advice.gain_ms / before, rel=0.05)


@settings(max_examples=15)
@given(st.floats(0.0001, 0.002), st.floats(0.005, 0.012), st.integers(1, 3), st.integers(8, 40), st.sampled_from([None, *sorted(SIZES)]))
@example(work=0.001, call=0.007, batch=2, operators=12, other=None)
def test_tiny_batches(work, call, batch, operators, other):
    training = HEALTHY.without(work=work, call=call, batch=batch, operators=operators, load=0.05 * batch)
    assume(work * batch < 0.2 * call)
    if other:
        training = training.without(**{other: 2 * training.step_time()})
    found = advice_on(training)
    assert "tiny_batches" in found
    assert f"batch_size={batch * LARGER}" in found["tiny_batches"].change
    larger = training.without(batch=batch * LARGER, load=0.05 * batch * LARGER)
    plain = training.without(load=0.05 * batch, sync=0.0, logging=0.0, pause=0.0)
    gained = plain.step_time() - larger.without(sync=0.0, logging=0.0, pause=0.0).step_time() / LARGER
    assert found["tiny_batches"].gain_ms == pytest.approx(gained, rel=0.25)


@settings(max_examples=20)
@given(st.floats(0.02, 0.5), st.integers(8, 64), st.integers(0, 10**6))
def test_a_healthy_loop_has_nothing_to_gain(work, batch, seed):
    assert advice_on(HEALTHY.without(work=work, batch=batch, seed=seed, load=0.01 * work * batch)) == {}


@pytest.mark.parametrize(
    ("fault", "rule", "line"), [("sync", "sync", "synchronize (train.py:31)"), ("written", "logging", "write_csv (io.py:3)")]
)
@pytest.mark.parametrize("seed", range(4))
def test_what_only_samples_tell_of_is_named_with_its_line(fault, rule, line, seed):
    training = HEALTHY.without(seen=False, seed=seed, steps=150, **{fault: 8.0 + seed})
    found = advice_on(training)
    assert list(found) == [rule]
    assert line in found[rule].evidence
    assert found[rule].gain_ms == pytest.approx(training.step_time() - training.without(**{fault: 0.0}).step_time(), rel=0.25)


def test_the_line_that_loads_is_named():
    assert "Images.__getitem__ (data.py:7)" in advice_on(HEALTHY.without(load=20.0))["single_threaded"].evidence


def test_workers_cannot_load_faster_than_the_processors_compute():
    training = HEALTHY.without(load=30.0)
    step, rest = training.step_time(), training.without(load=0.0).step_time()
    found = advice_on(training)["single_threaded"]
    assert found.gain_ms == pytest.approx(step - rest, rel=0.05)
    recorded = training.recorded(system={"cores_allowed": 2, "cores": 2})
    columns = {"time": [0, 1], "counter": ["process/cpu"] * 2, "value": [100.0, 100.0]}
    recorded.tables["counters"] = Table({name: np.array(column) for name, column in columns.items()})
    (advice,) = [each for each in analyse(recorded).advice if each.rule == "single_threaded"]
    assert advice.gain_ms == pytest.approx(step / 2, rel=0.05)    # two processors, both busy all the time


def test_the_promise_is_compared_with_what_came():
    before = HEALTHY.without(load=20.0)
    found = compare(analyse(before.recorded()), analyse(before.without(workers=8, seed=1).recorded()))
    assert found.kept["rule"].tolist() == ["single_threaded"]
    assert found.kept["gone"].tolist() == [True]
    assert found.kept["gained"][0] == pytest.approx(found.kept["promised"][0], rel=0.25)


def test_gains_of_several_faults_do_not_add_up_to_more_than_a_step():
    training = HEALTHY.without(load=20.0, sync=15.0, logging=12.0, pause=60.0)
    found = advice_on(training)
    assert set(found) == set(RULES.values())
    assert sum(advice.gain_ms for advice in found.values()) < training.step_time()
