"""Summary operators: recorded from inside a model, at the steps that are collected.

    h = ops.histogram("hidden", torch.relu(self.first(x)))

Each gives its value back, so that it can stand in an expression. `SummaryCollector` records what they were called with between the
beginning and the end of a step that it collects. Values are copied in the call, from whatever thread; of one kind and tag in one step the
last value counts, under ``torch.vmap`` that of the last example. Nothing that goes wrong in recording raises. At all other times an
operator costs:

===============  ====================================================================================================================
eager code       0.15 µs: PyTorch, NumPy, Python numbers, JAX outside ``jit``, MindSpore in PyNative mode
torch.compile    9 µs: one operation in the compiled graph, without a break; collecting compiles nothing anew. ``torch.export`` and
                 ``torch.fx`` leave it out, and so do most backends in a branch of ``torch.cond``.
jax.jit          0.1 ms, since its ``jax.debug.callback`` takes the value to the host at every step: keep values small, or use `when`. It
                 is unordered: inside ``vmap`` and ``scan`` any one of the values of a step may be the last
===============  ====================================================================================================================

`when` keeps the values of other steps on the device::

    @partial(jax.jit, static_argnames="collecting")
    def train_step(params, batch, collecting):
        with ops.when(collecting):
            ...                                             # operators, wherever they are called from here

    train_step(params, batch, ops.collecting())

As a static argument the flag makes two compiled functions: the one without operators costs nothing. As an ordinary argument it makes one,
in which it is a condition (``jax.lax.cond``): nothing comes to the host, but JAX still calls a function with callbacks by its slower way,
which takes 0.05 ms. Of a function with operators that is jitted by itself and called in the block, JAX keeps a version for each condition;
before JAX had ``make_user_context`` it kept the first: there put the block into that function.

In MindSpore's graph mode use its own operators (``ScalarSummary()`` ...): they are collected as these are.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, TypeVar

from summarykit.ops import current, jax_traced, routes
from summarykit.ops.current import Gathering, Given

__all__ = ["Gathering", "Given", "collecting", "histogram", "image", "scalar", "tensor", "when"]

T = TypeVar("T")


def scalar(tag: str, value: T) -> T:
    """Record a number, or an array of one element.

    Args:
        tag: its name.
        value: of any framework.

    Returns:
        The value, as it came.
    """
    routes.give("scalar", tag, value, "")
    return value


def image(tag: str, value: T, dataformat: str = "NCHW") -> T:
    """Record pictures.

    Args:
        tag: their name.
        value: an array; floats in [0, 1] or uint8.
        dataformat: the meaning of its axes: ``"NCHW"``, ``"NHWC"``, ``"CHW"``, ``"HWC"``, ``"HW"``.

    Returns:
        The value, as it came.
    """
    routes.give("image", tag, value, dataformat)
    return value


def histogram(tag: str, value: T) -> T:
    """Record how an array's values are spread.

    Args:
        tag: its name.
        value: an array of any shape.

    Returns:
        The value, as it came.
    """
    routes.give("histogram", tag, value, "")
    return value


def tensor(tag: str, value: T) -> T:
    """Record an array as it is.

    Args:
        tag: its name.
        value: an array of any shape.

    Returns:
        The value, as it came.
    """
    routes.give("tensor", tag, value, "")
    return value


def collecting() -> bool:
    """Whether the current step is being collected."""
    jax_traced.prepare()
    return current.collecting()


def when(condition: Any) -> AbstractContextManager[None]:
    """Record what operators under ``jax.jit`` are given in this block only where a condition holds; elsewhere it changes nothing.

    Of blocks within one another all conditions must hold.

    Args:
        condition: what `collecting` said, handed to the jitted function: a bool (a static argument) or a boolean array without axes.
    """
    return jax_traced.when(condition)


routes.prepare()
