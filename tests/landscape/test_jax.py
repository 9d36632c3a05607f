"""Parameters of JAX: one by one or several at once, the losses are those of JAX itself."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import Loop
from summarykit.collectors.landscape import LandscapeCollector
from summarykit.landscape import SummaryLandscape
from summarykit.landscape.models import jax_tree

jax = pytest.importorskip("jax")
RANDOM = np.random.default_rng(0)
BATCHES = [(RANDOM.normal(size=(8, 4)).astype("f4"), RANDOM.normal(size=(8, 2)).astype("f4")) for _ in range(3)]


def parameters():
    return {"hidden": {"kernel": jax.numpy.ones((4, 6)) * 0.1, "bias": jax.numpy.zeros(6)}, "out": [jax.numpy.ones((6, 2)) * 0.2]}


def loss(tree, batch):
    inputs, target = batch
    hidden = jax.numpy.tanh(inputs @ tree["hidden"]["kernel"] + tree["hidden"]["bias"])
    return ((hidden @ tree["out"][0] - target) ** 2).mean()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    directory, tree = tmp_path_factory.mktemp("run"), parameters()
    step = jax.jit(lambda tree, batch: jax.tree_util.tree_map(lambda a, b: a - 0.1 * b, tree, jax.grad(loss)(tree, batch)))
    network = dict(tree)    # the loop's network is a mapping that the loop keeps up to date
    with Loop(network, None, BATCHES * 2, 1, LandscapeCollector(directory, [[1, 3, 6]], landscape_size=5, num_samples=20)) as loop:
        for batch in loop.steps():
            network.update(step(dict(network), batch))
    return directory, network


def computed(trained, metrics=None):
    given = loss, parameters(), BATCHES, metrics or {"Loss": loss, "Size": lambda tree, batch: (tree["out"][0] ** 2).sum()}
    return SummaryLandscape(trained[0]).gen_landscapes_with_multi_process(lambda: given)


def test_the_value_at_the_centre_is_that_of_a_direct_evaluation(trained):
    path, result = computed(trained)
    inputs, target = (np.concatenate(parts)[:20] for parts in zip(*BATCHES, strict=True))
    assert path.path.z[-1] == pytest.approx(float(loss(trained[1], (inputs, target))), rel=1e-5)
    assert result.convergence[2] == pytest.approx(path.path.z[-1], rel=1e-6)
    assert result.metrics["Size"][2, 2] == pytest.approx(float((trained[1]["out"][0] ** 2).sum()), rel=1e-6)


def test_one_by_one_the_values_are_the_same(trained, monkeypatch):
    together, _ = computed(trained)
    monkeypatch.setattr(jax_tree, "_AT_ONCE", 0)
    alone, _ = computed(trained)
    np.testing.assert_allclose(alone.z, together.z, rtol=1e-5)


def test_filters_lie_along_the_last_axis(trained):
    from summarykit.landscape import metadata, weights

    checkpoint = weights.open_safetensors(trained[0] / metadata.DIRECTORY / "dict_6_step.safetensors")
    assert checkpoint.told["filter_axis"] == -1
    assert list(checkpoint.places) == ["hidden/bias", "hidden/kernel", "out/0"]
