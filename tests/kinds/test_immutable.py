"""Arrays of JAX frozen together, and steps that are given their memory."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

from summarykit.errors import RefusedValueError  # noqa: E402
from summarykit.kinds import immutable  # noqa: E402
from summarykit.kinds.arrays import Held, Typed, freeze  # noqa: E402
from summarykit.kinds.histogram import HISTOGRAM  # noqa: E402
from summarykit.kinds.immutable import frozen_together  # noqa: E402


def arrays():
    found = [jnp.arange(1000, dtype=jnp.float32) * factor for factor in (1, 2, 3)]
    return jax.block_until_ready(found)


@pytest.fixture
def late(monkeypatch):
    """Arrays as if they were not computed yet: whether they are in time is up to the machine."""
    monkeypatch.setattr(immutable, "_IS_READY", lambda array: False)
    return slow()


def slow():
    """The same arrays, of a computation that is still going on, most likely."""
    turned = jax.jit(lambda value: jax.lax.fori_loop(0, 300, lambda _, each: jnp.cos(each * 0), value))
    one = turned(jnp.ones(100_000))[0]
    return jax.jit(lambda one: [jnp.arange(1000, dtype=jnp.float32) * factor * one for factor in (1, 2, 3)])(one)


def donating(values):
    """A step that takes the memory of all of them and writes to it."""
    return jax.jit(lambda given: [value * -1 for value in given], donate_argnums=0)(values)


def assert_frozen(found):
    for factor, each in enumerate(found, 1):
        assert np.array_equal(each.get().data, np.arange(1000, dtype=np.float32) * factor)


def test_what_is_computed_is_looked_at_and_no_step_is_given_its_memory():
    values = arrays()
    found = frozen_together(values)
    assert all(isinstance(each, Typed) for each in found)
    assert all(np.shares_memory(each.data, np.asarray(value)) for each, value in zip(found, values, strict=True))
    jax.block_until_ready(donating(values))
    del values
    assert_frozen(found)


def test_what_is_not_computed_is_copied_though_a_step_is_given_its_memory(late):
    found = frozen_together(late)
    assert all(isinstance(each, Held) for each in found)
    donating(late)
    assert all(value.is_deleted() for value in late)
    assert_frozen(found)


def test_whether_it_is_computed_or_not():
    values = slow()
    found = frozen_together(values)
    donating(values)
    assert_frozen(found)


def test_a_kind_takes_what_is_frozen_as_it_is():
    [frozen] = frozen_together(arrays()[:1])
    assert HISTOGRAM.snapshot(frozen) is frozen
    assert HISTOGRAM.reduce(frozen).max == 999


@pytest.mark.parametrize("name", ["bfloat16", "float16", "int8", "bool"])
def test_va11_the_dtype_is_kept(name):
    [found] = frozen_together([jax.block_until_ready(jnp.ones((2, 3), name))])
    assert (found.get().dtype, found.shape, found.get().data.tolist()) == (name, (2, 3), [[1] * 3] * 2)


def test_what_numpy_must_widen_is_left_to_another_thread():
    values = jax.block_until_ready([jnp.ones(1000, "bfloat16"), jnp.ones(1000, "float8_e4m3fn")])
    assert all(isinstance(each, Held) for each in [*frozen_together(values), *map(freeze, values)])


def test_a_random_key_costs_only_itself():
    *found, key = frozen_together([*slow(), jax.random.key(0)])
    assert_frozen(found)
    for each in key, jax.random.key(0):
        with pytest.raises(RefusedValueError, match="key_data"):
            freeze(each)


def test_what_cannot_be_frozen_together_is_left_to_itself():
    deleted = jnp.ones(3)
    deleted.delete()
    for values in ([], [np.ones(3)], [*arrays(), np.ones(3)], [*arrays(), deleted], [*arrays(), jnp.ones(2, jnp.complex64)]):
        assert list(map(id, frozen_together(values))) == list(map(id, values))


def test_a_tracer_is_left_to_itself():
    def traced(value):
        assert frozen_together([value])[0] is value
        return value

    jax.jit(traced)(jnp.ones(3))


def test_one_array_alone():
    [values] = slow()[:1]
    found = freeze(values)
    donating([values])
    assert_frozen([found])
