"""Parameters and gradients of a network of any framework, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from summarykit.collectors.reported import flatten


def named_parameters(network: Any) -> Iterator[tuple[str, Any]]:
    """Give the parameters by name.

    Args:
        network: a PyTorch module (``named_parameters()``), a MindSpore cell (``parameters_and_names()``), a Keras model
            (``trainable_variables``), a mapping of arrays, nested as you like (Flax), or any object whose attribute
            ``parameters`` is such a mapping: this is all that a network written in NumPy needs. Of anything else: nothing.
    """
    # Keras first: on PyTorch its models are modules too, whose names for the parameters nobody knows.
    if isinstance(variables := getattr(network, "trainable_variables", None), (list, tuple)):
        yield from ((_name(variable), _value(variable)) for variable in variables)
        return
    for method in ("named_parameters", "parameters_and_names"):
        if callable(ask := getattr(network, method, None)):
            yield from ask()
            return
    if isinstance(network, Mapping):
        yield from flatten(network)
    elif isinstance(parameters := getattr(network, "parameters", None), Mapping):
        yield from flatten(parameters)


def named_gradients(network: Any) -> Iterator[tuple[str, Any]]:
    """Give the gradients by the parameters' names; those that are None are left out.

    Args:
        network: an object whose attribute ``gradients`` is a mapping of arrays, nested as you like; or one whose parameters
            hold their ``grad`` (PyTorch; Keras on PyTorch). Other frameworks keep none.
    """
    gradients = getattr(network, "gradients", None)
    found = flatten(gradients) if isinstance(gradients, Mapping) else _grads(network)
    yield from ((name, gradient) for name, gradient in found if gradient is not None)


def in_parts(network: Any) -> frozenset[str]:
    """Names of the parameters of which each process has a part, in tensors that do not say so: FSDP of PyTorch 1, DeepSpeed's ZeRO 3."""
    if _alone():
        return frozenset()
    return frozenset(name for name, value in named_parameters(network) for mark in ("_fsdp_flattened", "ds_id") if hasattr(value, mark))


def _alone() -> bool:
    """Whether a distributed training has one process: it holds everything as a whole."""
    distributed = sys.modules.get("torch.distributed")
    return distributed is not None and distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() == 1


def _grads(network: Any) -> Iterator[tuple[str, Any]]:
    return ((name, getattr(value, "grad", None)) for name, value in named_parameters(network))


def _name(variable: Any) -> str:
    return str(getattr(variable, "path", None) or variable.name)


def _value(variable: Any) -> Any:
    """The array inside a Keras variable: an attribute in Keras 3, a method in TensorFlow."""
    value = getattr(variable, "value", variable)
    return value() if callable(value) else value
