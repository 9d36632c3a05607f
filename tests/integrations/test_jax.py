"""A loop over jitted functions of JAX that donate their arguments, with our collector."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")

import jax
import jax.numpy as jnp
import optax

from summarykit import MetricWriter, Run
from summarykit.integrations.jax import Loop, Names, SummaryCollector, named_leaves

random = np.random.default_rng(0)
BATCHES = [(random.normal(size=(8, 4)).astype("f4"), random.integers(0, 3, 8)) for _ in range(4)]
SCHEDULE = optax.exponential_decay(0.5, 1, 0.5)


def start(optimizer):
    params = {"dense": {"kernel": jnp.ones((4, 3)), "bias": jnp.zeros(3)}, "scales": [jnp.ones(3)]}
    return params, optimizer.init(params)


def loss_of(params, images, labels):
    scores = (images @ params["dense"]["kernel"] + params["dense"]["bias"]) * params["scales"][0]
    return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()


def step_of(optimizer):
    def step(params, state, images, labels):
        loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(params, updates), state, loss, gradients

    return jax.jit(step, donate_argnums=(0, 1))


def train(callbacks, epochs=2, optimizer=None, **options):
    optimizer = optimizer or optax.sgd(SCHEDULE)
    step = step_of(optimizer)
    params, state = start(optimizer)
    with Loop(params, state, BATCHES, epochs, callbacks, **options) as loop:
        for _ in loop.epochs():
            for images, labels in loop.steps():
                params, state, loss, gradients = step(params, state, images, labels)
                loop.update(params, state, gradients=gradients)
                loop.report(loss=loss)
            with loop.evaluation():
                loop.report(loss=loss_of(params, *BATCHES[0]))
    return jax.tree.map(np.asarray, params)


def steps(run, tag):
    return run.scalars(tag).step.tolist()


@pytest.mark.parametrize("jitted", [False, True])
def test_the_graph_of_a_function(tmp_path, jitted):
    traced = []

    def scores(params, images):
        traced.append(images.shape)
        return jnp.tanh(images @ params["dense"]["kernel"])

    params = train(SummaryCollector(tmp_path), forward=jax.jit(scores) if jitted else scores)
    assert jax.tree.all(jax.tree.map(np.array_equal, params, train([])))
    assert traced == [(8, 4)]
    (graph,) = Run(tmp_path).graph()
    assert [node.op for node in graph.nodes if node.op in ("dot_general", "tanh")] == ["dot_general", "tanh"]
    assert "params/dense/kernel" in {node.name for node in graph.nodes}


def test_a_function_that_cannot_be_traced_is_told_once(tmp_path, caplog):
    train(SummaryCollector(tmp_path), forward=lambda params, images, labels, more: 1 / 0)
    assert len([message for message in caplog.messages if "graph" in message]) == 1
    assert steps(Run(tmp_path), "loss")[-1] == 8


def test_loss_rate_parameters_and_gradients_though_memory_is_donated(tmp_path, caplog):
    params = train(SummaryCollector(tmp_path, collect_freq=3), learning_rate=SCHEDULE)
    run = Run(tmp_path)
    assert steps(run, "loss") == steps(run, "learning_rate") == [1, 3, 6, 8]
    assert run.scalars("learning_rate").value.tolist() == pytest.approx([0.5 / 2**done for done in (0, 2, 5, 7)])
    assert steps(run, "eval/loss") == [4, 8]
    names = {"dense/bias", "dense/kernel", "scales/0"}
    assert {f"{name}/{kind}" for name in names for kind in ("auto", "gradient")} == set(run.tags()["histogram"])
    last = run.histograms("dense/kernel/auto").at(8).value
    assert (last.min, last.max) == (params["dense"]["kernel"].min(), params["dense"]["kernel"].max())
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING and "input data" not in record.message]


def test_the_parameters_are_the_same_bit_for_bit(tmp_path):
    one, other = train(SummaryCollector(tmp_path, collect_freq=1)), train(())
    assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), one, other))


def test_a_rate_that_the_state_holds(tmp_path):
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.inject_hyperparams(optax.sgd)(learning_rate=SCHEDULE))
    train(SummaryCollector(tmp_path, collect_freq=1), 1, optimizer)
    rates = Run(tmp_path).scalars("learning_rate").value
    assert len(rates) == 4
    assert rates[1:].tolist() == pytest.approx([0.5, 0.25, 0.125])    # optax stores the rate that a step had


def test_that_nobody_tells_the_rate_is_said_once_with_what_to_do(tmp_path, caplog):
    train(SummaryCollector(tmp_path, 1))
    said = [message for message in caplog.messages if "no learning rate" in message]
    assert said == ["no learning rate in the optimizer's state: say Loop(..., learning_rate=...), a number or a schedule"]


def test_an_exception_passes_and_the_collector_serves_again(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1)
    with pytest.raises(ArithmeticError), Loop({"w": jnp.ones(2)}, None, BATCHES, callbacks=collector) as loop:
        for place, _ in enumerate(loop.steps()):
            if place == 1:
                raise ArithmeticError("the second step")
            loop.report(loss=jnp.float32(place))
    assert steps(Run(tmp_path), "loss") == [1]
    train(collector, 1)
    assert steps(Run(tmp_path), "loss") == [1, 2, 3, 4]


def test_a_continued_training_goes_on(tmp_path):
    train(SummaryCollector(tmp_path, collect_freq=1), 1)
    train(SummaryCollector(tmp_path, collect_freq=1, resume=5), 2, initial_epoch=1, initial_step=4)
    assert steps(Run(tmp_path), "loss") == [1, 2, 3, 4, 5, 6, 7, 8]


def test_names_of_leaves():
    tree = {"a": [jnp.ones(1), (jnp.ones(1),)], "b": None, "c": "text"}
    assert [name for name, _ in named_leaves(tree)] == ["a/0", "a/1/0"]
    assert [name for name, _ in named_leaves(jnp.ones(1))] == ["parameters"]
    assert list(named_leaves(None)) == []


@jax.tree_util.register_dataclass
@dataclass
class Variable:
    """What Flax wraps its arrays in."""

    value: object


def test_names_of_wrapped_arrays():
    tree = {"dense": {"kernel": Variable(jnp.ones(2)), "value": Variable(jnp.ones(2))}}
    assert [name for name, _ in named_leaves(tree)] == ["dense/kernel", "dense/value"]


def test_a_metric_writer_takes_arrays_as_they_are(tmp_path):
    writer = MetricWriter(tmp_path)
    double = jax.jit(lambda value: value * 2, donate_argnums=0)
    value = jnp.ones(3)
    for step in range(1, 4):
        writer.write_scalars(step, {"sum": value.sum()})
        writer.write_histograms(step, {"value": value})
        value = double(value)
    writer.close()
    run = Run(tmp_path)
    assert run.scalars("sum").value.tolist() == [3, 6, 12]
    assert [point.value.max for point in run.histograms("value")] == [1, 2, 4]


def test_names_are_those_of_the_tree_as_it_is_now():
    names = Names()
    one = jnp.ones(1)
    for tree, expected in (({"a": 1.0, "b": one}, ["b"]), ({"a": one, "b": 2.0}, ["a"]), ({"c": one}, ["c"]), (None, [])):
        assert [name for name, _ in names.with_leaves(tree)] == expected
