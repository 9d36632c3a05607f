"""Models of the frameworks: their weights by name, set and measured. One file each; a registry finds who owns a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from summarykit.landscape.models.base import Evaluation, LandscapeModel, Network
from summarykit.registry import Registry

__all__ = ["MODELS", "Adapter", "Evaluation", "LandscapeModel", "Network", "model_of", "network_of"]

class Adapter(Protocol):
    """Makes a model of what ``callback_fn`` gave, for the networks of one framework."""

    network_type: type[Network]

    def __call__(self, model: Any, network: Any, dataset: Any, metrics: Mapping[str, Any], evaluation: Evaluation) -> LandscapeModel:
        """Make it."""


MODELS: Registry[Adapter] = Registry(
    "landscape_models",
    {
        "mindspore": "summarykit.landscape.models.mindspore_cell:MindSporeModel",
        "keras": "summarykit.landscape.models.keras_model:KerasModel",    # before torch: on that backend its models are modules too
        "torch": "summarykit.landscape.models.torch_module:TorchModel",
        "jax": "summarykit.landscape.models.jax_tree:JaxModel",
        "numpy": "summarykit.landscape.models.numpy_mapping:NumpyModel",
    },
)


def network_of(network: Any) -> Network:
    """The weights of a network of any framework.

    Raises:
        TypeError: nobody knows such a network.
    """
    return _owner(network).network_type(network)


def model_of(given: Any, evaluation: Evaluation) -> LandscapeModel:
    """What ``callback_fn()`` gave, as a model.

    Args:
        given: a `LandscapeModel`, or ``(model, network, dataset, metrics)``.
        evaluation: how to measure.

    Raises:
        TypeError, ValueError: it is something else; the message says what is wrong.
    """
    if isinstance(given, LandscapeModel):
        return given
    if not (isinstance(given, (tuple, list)) and len(given) == 4):
        raise TypeError(f"callback_fn must return a LandscapeModel or (model, network, dataset, metrics), got {type(given).__name__}")
    model, network, dataset, metrics = given
    if not isinstance(metrics, Mapping):
        raise TypeError(f"callback_fn: metrics must be a dict such as {{'Loss': ...}}, got {type(metrics).__name__}")
    if "Loss" not in metrics:
        raise ValueError(f"callback_fn: metrics must have the key 'Loss', got {', '.join(map(repr, metrics)) or 'none'}")
    return _owner(network)(model, network, dataset, metrics, evaluation)


def _owner(network: Any) -> Adapter:
    for name in MODELS:
        if (found := MODELS.get(name)).network_type.owns(network):
            return found
    raise TypeError(f"no weights are known of a network of type {type(network).__name__}; known: {', '.join(MODELS)}")
