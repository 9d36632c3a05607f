"""Models of PyTorch: traced symbolically (nothing is computed), else exported with an example input, else the tree of their modules."""

from __future__ import annotations

import copy
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from summarykit.errors import RefusedValueError
from summarykit.kinds.graphs.source import Guess, Names, short
from summarykit.notices import Notices, logger
from summarykit.shapes import Graph, Node, TensorType

NOTICES = Notices()

Trace = Callable[[Any, "Arguments | None"], list[Node]]


class Arguments(NamedTuple):
    """What a model could be called with."""

    by_place: tuple[Any, ...]
    by_name: dict[str, Any]
    guessed: bool


_WRAPPERS = {"OptimizedModule": "_orig_mod", "DistributedDataParallel": "module", "DataParallel": "module"}


class TorchSource:
    """A ``torch.nn.Module``.

    Scopes are the names of its modules; what a module of ``torch.nn`` computes is one node. A model whose code depends on values of its
    input is read by ``torch.export``, which needs an example of it: a tensor, a tuple of all arguments, or a mapping of them by name. A
    module within it that is a graph of its own (a part that a pass has fused, or a backend has taken over) is shown as a scope; so are
    devices, where parts of the model lie on another one than most. Parameters, buffers, modes and random states stay as they are.
    """

    def owns(self, value: Any) -> bool:
        """Tell whether it is a module."""
        torch = sys.modules.get("torch")
        return torch is not None and hasattr(torch, "nn") and isinstance(value, torch.nn.Module)

    def graph(self, value: Any, example_input: Any) -> Graph:
        """Give the graph; of a model that nothing can trace its modules alone, with one warning."""
        model = _unwrapped(value)
        name, arguments, reasons = type(model).__name__, _arguments(model, example_input), list[str]()
        for trace in (_traced, _exported):
            nodes = _attempt(trace, model, arguments, reasons)
            if nodes:
                return Graph(tuple(nodes), name)
        advice = " (example_input= may help)" if arguments is None else ""
        message = "%s cannot be traced%s; its modules are shown without what flows between them: %s"
        NOTICES.once(("trace", name), message, name, advice, "; ".join(reasons))
        return Graph(tuple(_modules(model)), name)


def _attempt(trace: Trace, model: Any, arguments: Arguments | None, reasons: list[str]) -> list[Node]:
    try:
        return trace(model, arguments)
    except Exception as error:  # noqa: BLE001 - tracing runs the user's code with what is no tensor
        reasons.append(f"{type(error).__name__}: {_first_line(error)}")
        return []


def _torch() -> Any:
    """The framework itself: a model of it is there, so it is loaded."""
    return sys.modules["torch"]


def _unwrapped(model: Any) -> Any:
    while type(model).__name__ in _WRAPPERS:
        model = getattr(model, _WRAPPERS[type(model).__name__])
    return model


def _arguments(model: Any, example: Any) -> Arguments | None:
    """An example as arguments; of a mapping those that the model takes, or the mapping itself where it takes none of them."""
    guessed = isinstance(example, Guess)
    given = example.value if isinstance(example, Guess) else example
    if given is None:
        return None
    if isinstance(given, Mapping):
        known = inspect.signature(model.forward).parameters
        named = {name: _tensor(value) for name, value in given.items() if name in known}
        return Arguments((), named, guessed) if named else Arguments((given,), {}, guessed)
    return Arguments(tuple(map(_tensor, given if isinstance(given, (tuple, list)) else (given,))), {}, guessed)


def _tensor(value: Any) -> Any:
    """An array as a tensor; anything else as it is."""
    return _torch().as_tensor(value) if type(value).__module__ == "numpy" else value


def _traced(model: Any, arguments: Arguments | None) -> list[Node]:
    found = _torch().fx.symbolic_trace(model)
    if arguments is not None:
        found = _with_types(found, arguments)
    return list(_Reading(found, {}, main_device(model)).nodes())


def main_device(model: Any) -> str:
    """Where most of a model's parameters lie; empty where it has none."""
    sizes: Counter[str] = Counter()
    for parameter in model.parameters():
        sizes[str(parameter.device)] += parameter.numel()
    return max(sizes, key=sizes.__getitem__, default="")


def _in_order(found: Any, arguments: Arguments) -> list[Any]:
    """One value for each input of a traced module, as far as they are told."""
    places = [node for node in found.graph.nodes if node.op == "placeholder"]
    rest = places[len(arguments.by_place) :]
    return [*arguments.by_place, *(arguments.by_name.get(node.target, node.args[0] if node.args else None) for node in rest)]


def _with_types(found: Any, arguments: Arguments) -> Any:
    """A copy without memory, whose nodes know what they give; where that fails, as it was."""
    try:
        fake = _torch()._subclasses.fake_tensor
        mode = fake.FakeTensorMode()
        with fake.FakeCopyMode(mode):
            weightless = copy.deepcopy(found)
        with mode:
            values = _in_order(found, arguments)
            _remembering()(weightless).run(*(mode.from_tensor(each) if hasattr(each, "dtype") else each for each in values))
    except Exception as error:  # noqa: BLE001 - an example that does not fit, or an operation without a meta kernel
        about = "a graph is shown without shapes: %s: %s", type(error).__name__, _first_line(error)
        logger.info(*about) if arguments.guessed else NOTICES.once("shapes", *about)
        return found
    return weightless


def _first_line(error: Exception) -> str:
    return short(str(error).partition("\n")[0])


def _remembering() -> Any:
    """An interpreter that leaves at each node what it gave."""
    base = _torch().fx.Interpreter

    class Remembering(base):    # type: ignore[misc, valid-type]  # a class of torch, which is not imported here
        def run_node(self, node: Any) -> Any:
            node.meta["val"] = super().run_node(node)
            return node.meta["val"]

    return Remembering


def _exported(model: Any, arguments: Arguments | None) -> list[Node]:
    if arguments is None:
        raise RefusedValueError("no example_input")
    with _torch().no_grad():
        found = _torch().export.export(model, arguments.by_place, arguments.by_name)
    signature = found.graph_signature
    lifted = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    return list(_Reading(found.graph_module, lifted, main_device(model)).nodes())


def _modules(model: Any) -> Iterator[Node]:
    """The modules that hold no others, with their parameters."""
    for path, module in model.named_modules():
        if not list(module.children()):
            scope = _scope(path)
            parameters = [_parameter(f"{scope}/{name}".lstrip("/"), value) for name, value in module.named_parameters(recurse=False)]
            yield from parameters
            name = f"{scope}/{type(module).__name__}".lstrip("/")
            yield Node(name, type(module).__name__, tuple(each.name for each in parameters), _settings(module))


class _Reading:
    """One traced module: its nodes in the order of the calls.

    Args:
        traced: a ``torch.fx.GraphModule``.
        lifted: inputs of it that are parameters or buffers of the model -> their names there.
        device: the device that goes without saying.
        scope: of a module within another one: its name there, and a slash.
        names: what is taken already.
    """

    def __init__(self, traced: Any, lifted: Mapping[str, str], device: str, scope: str = "", names: Names | None = None) -> None:
        self._traced = traced
        self._lifted = lifted
        self._device = device
        self._scope = scope
        self._names = names or Names()
        self._given: dict[Any, str] = {}
        self._parameters: dict[str, str] = {}

    def nodes(self) -> Iterator[Node]:
        for node in self._traced.graph.nodes:
            unused = node.op == "placeholder" and node.target in self._lifted and not node.users
            if unused or node in self._given or (self._scope and node.op == "output"):
                continue
            yield from getattr(self, f"_{node.op}")(node)

    def _placeholder(self, node: Any) -> Iterator[Node]:
        if node.target in self._lifted:
            yield self._node(node, self._lifted[node.target].replace(".", "/"), Node.PARAMETER)
        else:
            yield self._node(node, node.name, Node.INPUT)

    def _get_attr(self, node: Any) -> Iterator[Node]:
        path = str(node.target)
        if path in self._parameters:
            self._given[node] = self._parameters[path]
            return
        found = self._node(node, path.replace(".", "/"), Node.PARAMETER)
        self._parameters[path] = found.name
        yield found

    def _call_module(self, node: Any) -> Iterator[Node]:
        module = self._traced.get_submodule(node.target)
        if isinstance(module, _torch().fx.GraphModule):
            yield from self._inner(node, module)
            return
        scope = _scope(node.target)
        held = []
        for name, value in module.named_parameters(recurse=False):
            path = f"{node.target}.{name}"
            if path not in self._parameters:
                self._parameters[path] = self._names.new(f"{self._scope}{scope}/{name}")
                yield _parameter(self._parameters[path], value)
            held.append(self._parameters[path])
        yield self._node(node, f"{scope}/{type(module).__name__}", type(module).__name__, tuple(held), _settings(module))

    def _inner(self, node: Any, module: Any) -> Iterator[Node]:
        """A graph within the graph: in its place, under its name."""
        inner = _Reading(module, {}, self._device, f"{self._scope}{_scope(node.target)}/", self._names)
        inputs = [each for each in module.graph.nodes if each.op == "placeholder"]
        inner._given = {there: self._given[here] for there, here in zip(inputs, node.args, strict=False) if here in self._given}
        yield from inner.nodes()
        (output,) = (each for each in module.graph.nodes if each.op == "output")
        sources = [inner._given[each] for each in output.all_input_nodes]
        self._given[node] = sources[0] if len(sources) == 1 else self._names.new(f"{inner._scope}outputs")
        if len(sources) != 1:
            yield Node(self._given[node], "tuple", tuple(sources))

    def _call_function(self, node: Any) -> Iterator[Node]:
        op = _operation(node.target)
        yield self._node(node, f"{_caller(node)}/{op}".lstrip("/"), op, attributes=_constants(node))

    def _call_method(self, node: Any) -> Iterator[Node]:
        yield self._node(node, f"{_caller(node)}/{node.target}".lstrip("/"), str(node.target), attributes=_constants(node))

    def _output(self, node: Any) -> Iterator[Node]:
        yield self._node(node, "output", Node.OUTPUT)

    def _node(self, node: Any, name: str, op: str, more: tuple[str, ...] = (), attributes: Mapping[str, Any] | None = None) -> Node:
        self._given[node] = self._names.new(f"{self._elsewhere(node)}{self._scope}{name}")
        inputs = tuple(self._given[source] for source in node.all_input_nodes)
        return Node(self._given[node], op, inputs + more, attributes or {}, tuple(_types(node.meta.get("val"))))


    def _elsewhere(self, node: Any) -> str:
        """The device as a scope, where it is another than most of the model's."""
        device = getattr(node.meta.get("val"), "device", None)
        return f"{device}/" if device is not None and self._device and str(device) != self._device else ""


def _parameter(name: str, value: Any) -> Node:
    return Node(name, Node.PARAMETER, outputs=tuple(_types(value)))


def _types(value: Any) -> Iterator[TensorType]:
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from _types(each)
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        yield TensorType(str(value.dtype).removeprefix("torch."), tuple(_length(size) for size in value.shape))


def _length(size: Any) -> int:
    """A length, -1 where it is a symbol."""
    return size if isinstance(size, int) else -1


def _scope(path: str) -> str:
    return path.replace(".", "/")


def _caller(node: Any) -> str:
    """The module whose code calls it."""
    stack = node.meta.get("nn_module_stack") or {}
    path = next(reversed(stack.values()), ("", None))[0]
    return _scope(path)


def _operation(target: Callable[..., Any]) -> str:
    """``aten.conv2d.default`` is a conv2d."""
    name = str(getattr(target, "_opname", "") or getattr(target, "__name__", target))
    return name.removesuffix(".default")


def _settings(module: Any) -> dict[str, Any]:
    text = module.extra_repr()
    return {"settings": short(text)} if text else {}


def _constants(node: Any) -> dict[str, Any]:
    """Arguments that no node gives."""
    given = [short(value) for value in node.args if not isinstance(value, type(node)) and not _holds_nodes(value, type(node))]
    named = {str(name): short(value) for name, value in node.kwargs.items() if not _holds_nodes(value, type(node))}
    return {**({"arguments": given} if given else {}), **named}


def _holds_nodes(value: Any, kind: type) -> bool:
    return isinstance(value, kind) or (isinstance(value, (list, tuple)) and any(_holds_nodes(each, kind) for each in value))


TORCH = TorchSource()
