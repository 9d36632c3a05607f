"""JAX: callbacks for a hand-written loop over pure functions.

::

    from summarykit.integrations.jax import Loop, SummaryCollector

    with Loop(params, opt_state, batches, epochs=3, callbacks=[SummaryCollector("./summary")], forward=loss_of) as loop:
        for epoch in loop.epochs():
            for batch in loop.steps():
                params, opt_state, loss = train_step(params, opt_state, batch)
                loop.update(params, opt_state)
                loop.report(loss=loss)

Nothing here waits for a device: what is collected is copied there and fetched by another thread (on the CPU, what is computed is only
looked at, and JAX gives nobody its memory meanwhile), so a step may donate its arguments.
`summarykit.MetricWriter` takes arrays of JAX in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import jax

from summarykit import training
from summarykit.collectors import SummaryCollector
from summarykit.collectors.graph import Graph, needed
from summarykit.training import Callback

__all__ = ["Loop", "SummaryCollector", "named_leaves"]


class Loop(training.Loop):
    """`summarykit.Loop` for what has no objects that are trained: after each step it is handed the new parameters.

    Their tags are made of their keys: ``dense/kernel`` for ``params["dense"]["kernel"]``.
    """

    def __init__(
        self, params: Any = None, opt_state: Any = None, train_dataset: Iterable[Any] | None = None, epochs: int = 1,
        callbacks: Callback | Iterable[Callback] | None = (), *, learning_rate: float | Callable[[int], Any] | None = None,
        forward: Callable[..., Any] | None = None, **options: Any,
    ) -> None:  # fmt: skip
        """Describe a training; nothing of it is called or changed.

        Args:
            params: the parameters: any pytree (of Flax NNX: ``nnx.state(model, nnx.Param)``).
            opt_state: the optimizer's state. Where ``optax.inject_hyperparams`` made it, it says the learning rate.
            train_dataset: gives the batches: any iterable. An iterator serves one epoch only.
            epochs: the epoch number to reach, ≥ 0.
            callbacks: one or several.
            learning_rate: a number, or a schedule: a function of the number of updates done.
            forward: the function whose graph is recorded, jitted or not, of the parameters and as much of a batch as it needs:
                ``forward(params, images)`` or ``loss(params, images, labels)``. It is traced once; nothing is computed.
            **options: those of `summarykit.Loop`: ``initial_epoch``, ``initial_step`` …

        Raises:
            TypeError, ValueError: a count is no integer or negative, a callback is none.
        """
        self._network = Network(params)
        self._optimizer = Optimizer(opt_state, learning_rate)
        super().__init__(self._network, self._optimizer, train_dataset, epochs, callbacks, **options)
        if forward is not None:
            self._given[Graph.traced] = lambda batch: (forward, self._network.arguments(forward, batch))

    def update(self, params: Any, opt_state: Any = None, *, gradients: Any = None) -> None:
        """Hand over what a step made. It is held as it is, and copied after the step where something collects it.

        Args:
            params: the new parameters.
            opt_state: the optimizer's new state.
            gradients: the step's gradients, if they are to be recorded.
        """
        self._network.tree, self._network.gradient_tree = params, gradients
        self._optimizer.state = opt_state


class Network:
    """Parameters and gradients as the collector looks for them."""

    __name__ = ""

    def __init__(self, tree: Any) -> None:
        """Take the parameters: a pytree."""
        self.tree, self.gradient_tree = tree, None
        self._of_parameters, self._of_gradients = Names(), Names()

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return dict(self.named_parameters())

    def named_parameters(self) -> Iterable[tuple[str, Any]]:
        """The same, one after the other: this is what they are collected by."""
        return self._of_parameters.with_leaves(self.tree)

    def arguments(self, function: Callable[..., Any], batch: Any) -> tuple[Any, ...]:
        """What a function of the parameters and a batch could be called with."""
        parts = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
        return (self.tree, *parts[: max(needed(function) - 1, 0)])

    @property
    def gradients(self) -> dict[str, Any]:
        """The gradients by name."""
        return dict(self._of_gradients.with_leaves(self.gradient_tree))


class Optimizer:
    """The learning rate as the collector looks for it: of the state, or of what was given.

    Attributes:
        without_rate: where there is none, and what to do.
    """

    __name__ = ""
    without_rate = "the optimizer's state: say Loop(..., learning_rate=...), a number or a schedule"

    def __init__(self, state: Any, given: Any) -> None:
        """Take the state, and a number or a schedule."""
        self.state, self._given = state, given

    def __getattr__(self, name: str) -> Any:
        if name == "learning_rate":
            # The next step may take the memory of its state.
            found = [rate.copy() if isinstance(rate, jax.Array) else rate for rate in injected(self.state)]
            if self._given is not None or found:
                return self._given if self._given is not None else found[0]
        raise AttributeError(name)


def injected(state: Any) -> Iterator[Any]:
    """Give the learning rates in a state that ``optax.inject_hyperparams`` made, wherever it lies within others."""
    if isinstance(hyperparameters := getattr(state, "hyperparams", None), Mapping) and "learning_rate" in hyperparameters:
        yield hyperparameters["learning_rate"]
    elif isinstance(state, Mapping):
        yield from (rate for part in state.values() for rate in injected(part))
    elif isinstance(state, (tuple, list)):
        yield from (rate for part in state for rate in injected(part))


class Names:
    """The names of a pytree's leaves, made anew where its structure is another than the last time: that takes 7 µs a leaf."""

    def __init__(self) -> None:
        self._structure: Any = None
        self._names: list[str] = []

    def with_leaves(self, tree: Any) -> Iterable[tuple[str, Any]]:
        """Give the arrays of a tree with their names; see `named_leaves`."""
        leaves, structure = jax.tree_util.tree_flatten(tree)
        if self._structure is None or structure != self._structure:
            self._structure = structure
            self._names = [_name(path) for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]
        named = zip(self._names, leaves, strict=True)
        if all(hasattr(kind, "shape") for kind in {*map(type, leaves)}):
            return named
        return ((name, leaf) for name, leaf in named if hasattr(leaf, "shape"))


def named_leaves(tree: Any) -> Iterable[tuple[str, Any]]:
    """Give the arrays of a pytree with their names, made of the keys that lead to them.

    Args:
        tree: any pytree; None is an empty one.
    """
    return Names().with_leaves(tree)


def _name(path: Iterable[Any]) -> str:
    return "/".join(map(_key, path)).removesuffix("/value") or "parameters"


def _key(entry: Any) -> str:
    """What is written in the brackets, or behind the point."""
    return str(next(getattr(entry, name) for name in ("key", "name", "idx") if hasattr(entry, name)))
