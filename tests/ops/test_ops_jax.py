"""Operators in functions of JAX, jitted or not."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import Loop, Run, SummaryCollector, ops
from summarykit.ops import Gathering, jax_traced
from summarykit.ops.current import gather

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


def loss(weights, x):
    hidden = ops.histogram("hidden", jnp.tanh(x @ weights))
    ops.scalar("mean", hidden.mean())
    return (hidden**2).mean()


def train(directory, step, steps=12):
    weights, means = jnp.ones((4, 3)) * 0.1, []
    x = jnp.arange(8.0).reshape(2, 4)
    collector = [SummaryCollector(directory, collect_freq=5, keep_default_action=False)] if directory else []
    with Loop(None, None, range(steps), 1, collector) as loop:
        for _ in loop.steps():
            means.append(float(jnp.tanh(x @ weights).mean()))
            weights = step(weights, x)
    return means, np.asarray(weights)


def update(weights, x):
    return weights - 0.1 * jax.grad(loss)(weights, x)


def test_under_jit_the_steps_that_are_collected_are_recorded(tmp_path):
    means, _ = train(tmp_path, jax.jit(update))
    run = Run(tmp_path)
    assert run.scalars("mean").step.tolist() == [1, 5, 10, 12]
    np.testing.assert_allclose(run.scalars("mean").value, [means[step - 1] for step in (1, 5, 10, 12)], rtol=1e-5)
    assert [each.value.count for each in run.histograms("hidden")] == [6] * 4


def test_without_jit_too(tmp_path):
    def forward(weights, x):
        loss(weights, x)
        return weights

    train(tmp_path, forward)
    assert Run(tmp_path).scalars("mean").step.tolist() == [1, 5, 10, 12]


def test_the_training_is_the_same_bit_for_bit(tmp_path):
    def plain(weights, x):
        return weights - 0.1 * jax.grad(lambda weights: (jnp.tanh(x @ weights) ** 2).mean())(weights)

    np.testing.assert_array_equal(train(tmp_path, jax.jit(update))[1], train(None, jax.jit(plain))[1])


def test_in_a_scan_one_value_of_the_step_is_recorded(tmp_path):
    def body(carry, x):
        return ops.scalar("carry", carry + x), x

    def forward(weights, x):
        jax.lax.scan(body, 0.0, jnp.arange(4.0))
        return weights

    train(tmp_path, jax.jit(forward))
    assert set(Run(tmp_path).scalars("carry").value.tolist()) <= {0.0, 1.0, 3.0, 6.0}


@pytest.mark.parametrize("static", [{}, {"static_argnames": "collecting"}], ids=["condition", "two functions"])
def test_under_a_condition_nothing_comes_to_the_host_at_other_steps(tmp_path, static, monkeypatch):
    arrived, traced = [], []
    monkeypatch.setattr(jax_traced, "gather", lambda kind, tag, *rest: (arrived.append(tag), gather(kind, tag, *rest)))

    def conditional(weights, x, collecting):
        traced.append(1)
        with ops.when(collecting):
            return update(weights, x)

    step = jax.jit(conditional, **static)
    means, weights = train(tmp_path, lambda weights, x: step(weights, x, ops.collecting()))
    run = Run(tmp_path)
    assert run.scalars("mean").step.tolist() == [1, 5, 10, 12]
    np.testing.assert_allclose(run.scalars("mean").value, [means[step - 1] for step in (1, 5, 10, 12)], rtol=1e-5)
    assert [each.value.count for each in run.histograms("hidden")] == [6] * 4
    assert sorted(arrived) == ["hidden"] * 4 + ["mean"] * 4
    assert len(traced) == 1 + len(static)
    np.testing.assert_array_equal(weights, train(None, jax.jit(update))[1])


def test_a_condition_changes_nothing_outside_jit():
    gathering = Gathering()
    gathering.open()
    with ops.when(False):
        ops.scalar("eager", 1.0)
    assert [given.tag for given in gathering.close()] == ["eager"]
    assert not ops.collecting()


@pytest.mark.skipif(not hasattr(jax, "make_user_context"), reason="this JAX keeps what it traced first")
@pytest.mark.parametrize("static", [{}, {"static_argnames": "collecting"}], ids=["condition", "two functions"])
def test_a_function_that_is_jitted_by_itself_does_as_the_condition_of_each_call_says(static):
    @jax.jit
    def inner(x):
        return ops.scalar("inner", x.sum())

    def outer(x, collecting):
        with ops.when(collecting):
            return inner(x)

    def recorded(step, *args):
        gathering = Gathering()
        gathering.open()
        assert step(jnp.ones(3), *args) == 3
        return [given.tag for given in gathering.close()]

    step = jax.jit(outer, **static)
    assert [recorded(step, collecting) for collecting in (False, True, False)] == [[], ["inner"], []]
    assert recorded(inner) == ["inner"]    # nothing of the condition is left in it


@pytest.mark.parametrize("static", ["", "outer", "inner", "both"])
def test_of_conditions_within_one_another_all_must_hold(static):
    def model(x, outer, inner):
        with ops.when(outer):
            ops.scalar("outer", x)
            with ops.when(inner):
                ops.scalar("inner", x)
            ops.scalar("outer again", x)
        return x

    names = {"": (), "both": ("outer", "inner")}.get(static, (static,))
    step = jax.jit(model, static_argnames=names)
    for outer in (False, True):
        for inner in (False, True):
            gathering = Gathering()
            gathering.open()
            step(jnp.ones(()), outer, inner)
            wanted = {"outer", "outer again"} if outer else set()
            assert {given.tag for given in gathering.close()} == wanted | ({"inner"} if outer and inner else set())
