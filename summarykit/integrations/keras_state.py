"""Keras on JAX: a model and its optimizer, looked at while the values of their variables are elsewhere.

While Keras trains a model there, its variables are empty. Where ``Callback.model`` is asked for, Keras fills them, and empties them again
before the next step: that takes the training thread a millisecond. So what is collected is read where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras


class Variable(NamedTuple):
    """A variable's name and value."""

    path: str
    value: Any


class _LookAlike:
    """What `isinstance` takes for the model or its optimizer, and Keras is asked for when it is looked at."""

    def __init__(self, model: Any, looked_at: Any, current: Callable[[], Any]) -> None:
        """Make one.

        Args:
            model: what is trained.
            looked_at: it, or its optimizer.
            current: asks Keras for that, with values in its variables.
        """
        self._model, self._looked_at, self._current = model, looked_at, current

    @property    # type: ignore[misc]  # isinstance() believes it
    def __class__(self) -> type[Any]:
        return type(self._looked_at)

    def __getattr__(self, name: str) -> Any:
        own, kind = vars(self._looked_at), type(self._looked_at)
        if name in own and (own[name] is None or isinstance(own[name], (int, float, str))):    # no variable
            return own[name]
        if not (name in own or hasattr(kind, name) or hasattr(kind, "__getattr__")):
            raise AttributeError(name)
        return getattr(self._current(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._current()(*args, **kwargs)


class _Model(_LookAlike):
    gradients: Mapping[str, Any] = {}
    """None: on JAX nothing keeps them."""

    @property
    def trainable_variables(self) -> Sequence[Any]:
        """Its variables, or what has their names and values."""
        values = _elsewhere(self._model, "trainable_variables")
        if values is None:
            return list(self._current().trainable_variables)
        return [Variable(variable.path, value) for variable, value in zip(self._looked_at.trainable_variables, values, strict=True)]


class _Optimizer(_LookAlike):
    @property
    def learning_rate(self) -> float:
        """That of the next update: a number, since the next step takes the memory of the optimizer's variables."""
        values = _elsewhere(self._model, "optimizer_variables")
        if values is None:
            return float(self._current().learning_rate)
        # A rate is one of the numbers, or a schedule's that counts by one.
        numbers = [each for each in zip(self._looked_at.variables, values, strict=True) if each[0].shape == ()]
        with keras.StatelessScope(numbers):
            return float(self._looked_at.learning_rate)


def look_alikes(model: Any, current: Callable[[], Any]) -> tuple[Any, Any]:
    """Give what looks like a model and its optimizer, None where it has none.

    Args:
        model: as it is while it is trained.
        current: asks Keras for the model with values in its variables.
    """
    optimizer = getattr(model, "optimizer", None)
    return _named(_Model, model, model, current), optimizer and _named(_Optimizer, model, optimizer, lambda: current().optimizer)


def _named(kind: type[_LookAlike], model: Any, looked_at: Any, current: Callable[[], Any]) -> Any:
    return type(type(looked_at).__name__, (kind,), {})(model, looked_at, current)


def _elsewhere(model: Any, which: str) -> Sequence[Any] | None:
    """The values of a model's variables, where Keras keeps them for its callbacks; None: the variables have them, or Keras is another."""
    state = None if getattr(model, "_jax_state_synced", True) else getattr(model, "_jax_state", None)
    return state.get(which) if isinstance(state, dict) else None
