"""Traced modules of PyTorch, as ``torch.fx``, ``torch.export`` and ``torch.compile`` have them: nodes in the order of the calls."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from summarykit.kinds.graphs.source import Names, short
from summarykit.shapes import Node, TensorType

_SUBMODULE = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")    # L['self']._modules['fc']._parameters['weight']
_ROOT = re.compile(r"L\['(\w+)'\]\.?")
_OURS = "summarykit"    # namespace of the operation that summary operators are in a compiled graph


class Reading:
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
        self._called: dict[Any, tuple[str, Any]] = {}    # modules that are handed to a function, which calls them

    def nodes(self) -> Iterator[Node]:
        """Give them, each behind those it takes from."""
        for node in self._traced.graph.nodes:
            unused = node.op == "placeholder" and node.target in self._lifted and not node.users
            if unused or node in self._given or (self._scope and node.op == "output") or _is_ours(node):
                continue
            yield from getattr(self, f"_{node.op}")(node)

    def _placeholder(self, node: Any) -> Iterator[Node]:
        source = str(getattr(getattr(node, "_dynamo_source", None), "name", ""))
        held = self._lifted.get(node.target, "").replace(".", "/") or "/".join(_SUBMODULE.findall(source))
        if held:
            yield self._node(node, held, Node.PARAMETER)
        else:
            root = _ROOT.fullmatch(source)
            yield self._node(node, root[1] if root else node.name, Node.INPUT)

    def _get_attr(self, node: Any) -> Iterator[Node]:
        path = str(node.target)
        if path in self._parameters:
            self._given[node] = self._parameters[path]
            return
        held = attrgetter(path)(self._traced)
        if hasattr(held, "named_parameters"):
            self._called[node] = path, held
            return
        found = self._node(node, path.replace(".", "/"), Node.PARAMETER)
        self._parameters[path] = found.name
        yield found

    def _call_module(self, node: Any) -> Iterator[Node]:
        module = self._traced.get_submodule(node.target)
        if _is_graph(module):
            yield from self._inner(node, str(node.target), module, node.args)
            return
        scope = scope_of(node.target)
        held = []
        for name, value in module.named_parameters(recurse=False):
            path = f"{node.target}.{name}"
            if path not in self._parameters:
                self._parameters[path] = self._names.new(f"{self._scope}{scope}/{name}")
                yield parameter(self._parameters[path], value)
            held.append(self._parameters[path])
        yield self._node(node, f"{scope}/{class_of(module)}", class_of(module), tuple(held), settings_of(module))

    def _inner(self, node: Any, path: str, module: Any, arguments: Sequence[Any]) -> Iterator[Node]:
        """A graph within the graph: in its place, under its name."""
        inner = Reading(module, {}, self._device, f"{self._scope}{scope_of(path)}/", self._names)
        inputs = [each for each in module.graph.nodes if each.op == "placeholder"]
        pairs = zip(inputs, arguments, strict=False)
        inner._given = {there: self._given[here] for there, here in pairs if isinstance(here, type(node)) and here in self._given}
        yield from inner.nodes()
        (output,) = (each for each in module.graph.nodes if each.op == "output")
        sources = [inner._given[each] for each in output.all_input_nodes]
        self._given[node] = sources[0] if len(sources) == 1 else self._names.new(f"{inner._scope}outputs")
        if len(sources) != 1:
            yield Node(self._given[node], "tuple", tuple(sources))

    def _call_function(self, node: Any) -> Iterator[Node]:
        op = _operation(node.target)
        places = [place for place, each in enumerate(node.args) if isinstance(each, type(node)) and each in self._called]
        called = [self._called[node.args[place]] for place in places]
        if len(called) == 1 and _is_graph(called[0][1]):
            yield from self._inner(node, *called[0], node.args[places[0] + 1 :])
            return
        attributes = _constants(node) | ({"calls": [path for path, _ in called]} if called else {})
        backends = [str(module.backend_id) for _, module in called if hasattr(module, "backend_id")]
        yield self._node(node, "/".join(filter(None, (*backends, _caller(node), op))), op, attributes=attributes)

    def _call_method(self, node: Any) -> Iterator[Node]:
        yield self._node(node, f"{_caller(node)}/{node.target}".lstrip("/"), str(node.target), attributes=_constants(node))

    def _output(self, node: Any) -> Iterator[Node]:
        yield self._node(node, "output", Node.OUTPUT)

    def _node(self, node: Any, name: str, op: str, more: tuple[str, ...] = (), attributes: Mapping[str, Any] | None = None) -> Node:
        self._given[node] = self._names.new(f"{self._elsewhere(node)}{self._scope}{name}")
        inputs = tuple(self._given[source] for source in node.all_input_nodes if source in self._given)
        return Node(self._given[node], op, inputs + more, attributes or {}, tuple(_types(_value(node))))

    def _elsewhere(self, node: Any) -> str:
        """The device as a scope, where it is another than most of the model's."""
        device = getattr(_value(node), "device", None)
        return f"{device}/" if device is not None and self._device and str(device) != self._device else ""


def _is_graph(module: Any) -> bool:
    """Whether a module is a graph itself."""
    return isinstance(module, sys.modules["torch"].fx.GraphModule)


def _is_ours(node: Any) -> bool:
    """Whether it is a summary operator, or what prepares a value for one."""
    if getattr(node.target, "namespace", "") == _OURS or str(node.target).startswith(f"{_OURS}."):
        return True
    return node.target == "detach" and bool(node.users) and all(map(_is_ours, node.users))


def _value(node: Any) -> Any:
    """What it gives, as a tensor without memory."""
    return node.meta.get("val", node.meta.get("example_value"))


def parameter(name: str, value: Any) -> Node:
    """Give a parameter's node."""
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


def scope_of(path: str) -> str:
    """Give a module's path as a scope."""
    return path.replace(".", "/")


def _caller(node: Any) -> str:
    """The module whose code calls it."""
    stack = node.meta.get("nn_module_stack") or {}
    path = next(reversed(stack.values()), ("", None))[0]
    return scope_of(_ROOT.sub("", path, count=1))


def _operation(target: Callable[..., Any]) -> str:
    """``aten.conv2d.default`` is a conv2d."""
    name = str(getattr(target, "_opname", "") or getattr(target, "__name__", target))
    return name.removesuffix(".default")


def class_of(module: Any) -> str:
    """Give the name of a module's class; of TorchScript that of the class it was made from."""
    scripted = isinstance(module, sys.modules["torch"].jit.ScriptModule)
    return str(module.original_name) if scripted else type(module).__name__


def settings_of(module: Any) -> dict[str, Any]:
    """Give what a module's own text says of it, as attributes."""
    text = module.extra_repr()
    return {"settings": short(text)} if text else {}


def _constants(node: Any) -> dict[str, Any]:
    """Arguments that no node gives."""
    given = [short(value) for value in node.args if not isinstance(value, type(node)) and not _holds_nodes(value, type(node))]
    named = {str(name): short(value) for name, value in node.kwargs.items() if not _holds_nodes(value, type(node))}
    return {**({"arguments": given} if given else {}), **named}


def _holds_nodes(value: Any, kind: type) -> bool:
    return isinstance(value, kind) or (isinstance(value, (list, tuple)) and any(_holds_nodes(each, kind) for each in value))


