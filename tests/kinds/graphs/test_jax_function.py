"""Functions of JAX: traced, with scopes, shapes and dtypes; never computed."""

from __future__ import annotations

import pytest

from summarykit.errors import RefusedValueError
from summarykit.kinds.graph import GRAPH
from summarykit.shapes import Node, TensorType

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


def nodes(value, *arguments):
    graph = GRAPH.reduce(GRAPH.snapshot(value, example_input=arguments or None))
    found = {node.name: node for node in graph.nodes}
    assert len(found) == len(graph.nodes)
    seen: set[str] = set()
    for node in graph.nodes:    # each behind those it takes from
        assert set(node.inputs) <= seen
        seen.add(node.name)
    return found


def loss(params, x):
    with jax.named_scope("hidden"):
        h = jax.nn.relu(x @ params["dense"]["kernel"] + params["dense"]["bias"])
    return h.mean()


PARAMS = {"dense": {"kernel": jnp.ones((3, 4)), "bias": jnp.zeros(4)}}
X = jax.ShapeDtypeStruct((5, 3), jnp.float32)


@pytest.mark.parametrize("wrapped", [loss, jax.jit(loss)])
def test_a_function(wrapped):
    found = nodes(wrapped, PARAMS, X)
    assert {name: node.op for name, node in found.items()} == {
        "params/dense/bias": Node.PARAMETER, "params/dense/kernel": Node.PARAMETER, "x": Node.INPUT,
        "hidden/dot_general": "dot_general", "hidden/broadcast_in_dim": "broadcast_in_dim", "hidden/add": "add",
        "hidden/relu/max": "max", "reduce_sum": "reduce_sum", "div": "div", "output": Node.OUTPUT,
    }  # fmt: skip
    assert found["hidden/dot_general"].inputs == ("x", "params/dense/kernel")
    assert found["hidden/dot_general"].outputs == (TensorType("float32", (5, 4)),)
    assert found["hidden/relu/max"].attributes["literals"] == ["0.0"]
    assert found["output"].inputs == ("div",)


def test_gradients_lie_in_a_scope_of_their_own():
    found = nodes(jax.jit(jax.value_and_grad(loss)), PARAMS, X)
    assert "backward/hidden/dot_general" in found
    assert [node.outputs[0].shape for node in found.values() if node.op == Node.OUTPUT] == [(), (4,), (3, 4)]


def test_loops():
    """The body of a scan is shown once; of a while loop there is one node."""

    def steps(x):
        total, _ = jax.lax.scan(lambda carry, each: (carry * 2 + each, None), x[0], x)
        return jax.lax.while_loop(lambda v: v < 100, lambda v: v * 2, total)

    found = nodes(steps, jnp.arange(3.0))
    assert found["scan/mul"].op == "mul"
    assert found["while"].inputs == ("scan/add",)
    assert found["output"].inputs == ("while",)


def test_constants_are_nodes():
    table = jnp.arange(4.0)
    found = nodes(lambda x: x + table, jnp.ones(4))
    assert [node.op for node in found.values()] == [Node.INPUT, Node.CONSTANT, "add", Node.OUTPUT]


def test_flax_modules_name_scopes():
    nn = pytest.importorskip("flax.linen")
    model = nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(2)])
    variables = model.init(jax.random.key(0), jnp.ones((1, 3)))
    found = nodes(model.apply, variables, jnp.ones((1, 3)))
    assert {name for name in found if name.endswith("dot_general")} == {
        "Sequential/layers_0/dot_general", "Sequential/layers_2/dot_general",
    }  # fmt: skip
    assert [node.outputs[0].shape for node in found.values() if node.op == Node.PARAMETER] == [(4,), (3, 4), (2,), (4, 2)]


def test_without_an_example_it_is_refused():
    with pytest.raises(RefusedValueError, match="needs example_input="):
        nodes(loss)


def test_a_function_that_fails_is_refused():
    with pytest.raises(RefusedValueError, match="could not be read"):
        nodes(loss, PARAMS, jax.ShapeDtypeStruct((5, 7), jnp.float32))
