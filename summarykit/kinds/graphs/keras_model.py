"""Models of Keras 3, on whatever backend: layers and what flows between them, as far as the model knows it before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from summarykit.kinds.graphs.source import Names
from summarykit.lazy import loaded
from summarykit.notices import Notices
from summarykit.shapes import Graph, Node, TensorType

NOTICES = Notices()

_OWN = ("name", "trainable", "dtype")    # settings that every layer has


class KerasSource:
    """A ``keras.Model``: functional and (built) sequential ones with all edges, models within them as scopes; of others the layers."""

    def owns(self, value: Any) -> bool:
        """Tell whether it is a model."""
        return isinstance(value, loaded("keras", "Model"))

    def graph(self, value: Any, example_input: Any) -> Graph:
        """Give the graph; of a subclassed model, or one that is not built, its layers alone, with one warning."""
        functional = _functional(value)
        reading = _Reading()
        if functional is not None:
            return Graph(tuple(reading.model(functional)), value.name)
        name = type(value).__name__
        NOTICES.once(name, "%s is no functional model, or not built: its layers are shown without what flows between them", name)
        return Graph(tuple(reading.layers(value, "")), value.name)


def _functional(model: Any) -> Any:
    """The functional model that it is, or that a sequential one keeps; None of others."""
    if hasattr(model, "operations") and getattr(model, "_nodes", None):
        return model
    return getattr(model, "_functional", None)


class _Reading:
    """One model: its operations in the order in which they run."""

    def __init__(self) -> None:
        self._names = Names()
        self._held: dict[int, tuple[str, ...]] = {}

    def model(self, model: Any) -> Iterator[Node]:
        """Its operations and outputs."""
        given: dict[int, str] = {}
        yield from self._operations(model, given, "")
        for tensor in model.outputs:
            yield Node(self._names.new("output"), Node.OUTPUT, _sources([tensor], given), outputs=(_type(tensor),))

    def layers(self, model: Any, scope: str) -> Iterator[Node]:
        """A node for each layer, in scopes by the models that they are in."""
        for layer in model.layers:
            if getattr(layer, "layers", None):
                yield from self.layers(layer, f"{scope}{layer.name}/")
            else:
                yield from self._parameters(layer, scope)
                yield Node(self._name(layer, scope), type(layer).__name__, self._held[id(layer)], _settings(layer))

    def _operations(self, model: Any, given: dict[int, str], scope: str) -> Iterator[Node]:
        own = _calls(model)
        for operation in model.operations:
            for call in operation._inbound_nodes:
                if call in own:
                    yield from self._call(operation, call, given, scope)

    def _call(self, operation: Any, call: Any, given: dict[int, str], scope: str) -> Iterator[Node]:
        inner = _functional(operation)
        if inner is not None:
            yield from self._inner(operation, inner, call, given, scope)
        elif type(operation).__name__ == "InputLayer":
            yield from self._input(operation, call, given, scope)
        else:
            yield from self._parameters(operation, scope)
            name = self._name(operation, scope)
            inputs = _sources(call.input_tensors, given) + self._held[id(operation)]
            yield Node(name, type(operation).__name__, inputs, _settings(operation), tuple(map(_type, call.output_tensors)))
            given.update((id(tensor), name) for tensor in call.output_tensors)

    def _input(self, operation: Any, call: Any, given: dict[int, str], scope: str) -> Iterator[Node]:
        """An input; that of a model within another is what flows in there."""
        new = [tensor for tensor in call.output_tensors if id(tensor) not in given]
        for tensor in new:
            given[id(tensor)] = self._names.new(f"{scope}{operation.name}")
            yield Node(given[id(tensor)], Node.INPUT, outputs=(_type(tensor),))

    def _inner(self, operation: Any, inner: Any, call: Any, given: dict[int, str], scope: str) -> Iterator[Node]:
        """A model within the model."""
        pairs = zip(inner.inputs, call.input_tensors, strict=False)
        own = {id(there): given[id(here)] for there, here in pairs if id(here) in given}
        yield from self._operations(inner, own, f"{scope}{operation.name}/")
        outputs = zip(call.output_tensors, inner.outputs, strict=False)
        given.update((id(here), own[id(there)]) for here, there in outputs if id(there) in own)

    def _parameters(self, operation: Any, scope: str) -> Iterator[Node]:
        """Those of an operation that is met for the first time."""
        if id(operation) not in self._held:
            weights = getattr(operation, "weights", [])
            names = [self._names.new(f"{scope}{operation.name}/{weight.name}") for weight in weights]
            self._held[id(operation)] = tuple(names)
            yield from (Node(name, Node.PARAMETER, outputs=(_type(weight),)) for name, weight in zip(names, weights, strict=True))

    def _name(self, operation: Any, scope: str) -> str:
        return self._names.new(f"{scope}{operation.name}/{type(operation).__name__}")


def _calls(model: Any) -> set[Any]:
    """The calls of its layers that are this model's: another one may have called them, too."""
    found: set[Any] = set()
    inputs, waiting = {id(tensor) for tensor in model.inputs}, list(model.outputs)
    while waiting:
        tensor = waiting.pop()
        operation, number, _ = tensor._keras_history
        call = operation._inbound_nodes[number]
        if call not in found:
            found.add(call)
            waiting += [] if id(tensor) in inputs else call.input_tensors
    return found


def _sources(tensors: Any, given: dict[int, str]) -> tuple[str, ...]:
    return tuple(given[id(tensor)] for tensor in tensors if id(tensor) in given)


def _type(tensor: Any) -> TensorType:
    return TensorType(str(tensor.dtype), tuple(-1 if size is None else int(size) for size in tensor.shape))


def _settings(operation: Any) -> dict[str, Any]:
    """What its configuration says in numbers and texts."""
    told = operation.get_config() if hasattr(operation, "weights") else {}    # of plain operations not all can tell
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in told.items() if name not in _OWN}
    return {name: value for name, value in plain.items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str)) or (isinstance(value, list) and all(isinstance(each, (int, float)) for each in value))


KERAS = KerasSource()
