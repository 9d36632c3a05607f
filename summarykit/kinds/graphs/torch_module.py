"""Models of PyTorch: traced symbolically (nothing is computed), else exported with an example input, else the tree of their modules."""

from __future__ import annotations

import copy
import inspect
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from summarykit.errors import RefusedValueError
from summarykit.kinds.graphs import torch_symbolic
from summarykit.kinds.graphs.source import Guess, short
from summarykit.kinds.graphs.torch_kept import kept, same_randomness
from summarykit.kinds.graphs.torch_quiet import quiet
from summarykit.kinds.graphs.torch_reading import Reading, class_of, parameter, scope_of, settings_of
from summarykit.lazy import loaded
from summarykit.notices import Notices, logger
from summarykit.shapes import Graph, Node

NOTICES = Notices()

Trace = Callable[[Any, "Arguments | None"], list[Node]]

_ONE_THREAD = threading.RLock()    # tracers put methods of their own into the class of all modules: the last to end would leave them there


def _renew() -> None:
    global _ONE_THREAD
    _ONE_THREAD = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)    # the thread that traced is not in the child, and would be waited for without end


class Arguments(NamedTuple):
    """What a model could be called with."""

    by_place: tuple[Any, ...]
    by_name: dict[str, Any]
    guessed: bool


_WRAPPERS = {"OptimizedModule": "_orig_mod", "DistributedDataParallel": "module", "DataParallel": "module"}
_NO_FORWARD = ("_forward_unimplemented", "LightningModule.forward")    # of modules that train by a ``training_step`` alone


class TorchSource:
    """A ``torch.nn.Module``.

    Scopes are the names of its modules; what a module of ``torch.nn`` computes is one node. A model whose code depends on values of its
    input is read by ``torch.export``, which needs an example of it: a tensor, a tuple of all arguments, or a mapping of them by name. A
    module within it that is a graph of its own (a part that a pass has fused, or a backend has taken over) is shown as a scope; so are
    devices, where parts of the model lie on another one than most. Parameters, buffers, modes and random states stay as they are, and
    so does all that its code keeps in the modules; hooks are not called, but for those of ``torch.nn.utils``, which make weights. (An
    object of another kind, or a global variable, sees the one or two calls of tracing.)
    """

    def owns(self, value: Any) -> bool:
        """Tell whether it is a module."""
        return isinstance(value, loaded("torch.nn", "Module"))

    def graph(self, value: Any, example_input: Any) -> Graph:
        """Give the graph; of a model that nothing can trace its modules alone, with one warning; of one without ``forward`` without it."""
        model = _unwrapped(value)
        name, arguments, reasons = class_of(model), _arguments(model, example_input), list[str]()
        if _without_forward(model):
            return Graph(tuple(_modules(model)), name)
        if nodes := _attempt(_traced, model, arguments, reasons) or _attempt(_exported, model, arguments, reasons):
            return Graph(tuple(nodes), name)
        advice = " (example_input= may help)" if arguments is None else ""
        message = "%s cannot be traced%s; its modules are shown without what flows between them: %s"
        NOTICES.once(("trace", name), message, name, advice, "; ".join(reasons))
        return Graph(tuple(_modules(model)), name)


def _attempt(trace: Trace, model: Any, arguments: Arguments | None, reasons: list[str]) -> list[Node]:
    try:
        with _ONE_THREAD, kept(model), same_randomness(model):
            return trace(model, arguments)
    except Exception as error:  # noqa: BLE001 - tracing runs the user's code with what is no tensor
        reasons.append(f"{type(error).__name__}: {_first_line(error)}")
        return []


def _torch() -> Any:
    """The framework itself: a model of it is there, so it is loaded."""
    return sys.modules["torch"]


def _unwrapped(model: Any) -> Any:
    """The user's own module: what its wrappers hold, and the only child of one that cannot be called."""
    while type(model).__name__ in _WRAPPERS:
        model = getattr(model, _WRAPPERS[type(model).__name__])
    children = list(model.children())
    return _unwrapped(children[0]) if len(children) == 1 and _without_forward(model) else model


def _without_forward(model: Any) -> bool:
    return getattr(getattr(type(model), "forward", None), "__qualname__", "") in _NO_FORWARD and "forward" not in vars(model)


def _arguments(model: Any, example: Any) -> Arguments | None:
    """An example as arguments; of a mapping those that the model takes, or the mapping itself where it takes none of them."""
    guessed = isinstance(example, Guess)
    given = example.value if isinstance(example, Guess) else example
    if given is None:
        return None
    if isinstance(given, Mapping):
        known = _parameters(model.forward)
        named = {name: _tensor(value) for name, value in given.items() if name in known}
        return Arguments((), named, guessed) if named else Arguments((given,), {}, guessed)
    return Arguments(tuple(map(_tensor, given if isinstance(given, (tuple, list)) else (given,))), {}, guessed)


def _parameters(function: Any) -> Collection[str]:
    """Names of the arguments that a function takes; none where nobody knows, as of TorchScript and functions of C."""
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return ()


def _tensor(value: Any) -> Any:
    """An array as a tensor; anything else as it is."""
    return _torch().as_tensor(value) if type(value).__module__ == "numpy" else value


def _traced(model: Any, arguments: Arguments | None) -> list[Node]:
    found = model if isinstance(model, _torch().fx.GraphModule) else torch_symbolic.traced(model)
    if arguments is not None:
        found = _with_types(found, arguments)
    return list(Reading(found, {}, main_device(model)).nodes())


def main_device(model: Any) -> str:
    """Where most of a model's parameters lie; empty where it has none."""
    sizes: Counter[str] = Counter()
    for each in model.parameters():
        sizes[str(each.device)] += each.numel()
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
        with mode, quiet():
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
        """Runs a graph, and notes at each node what it gave."""

        def run_node(self, node: Any) -> Any:
            """Run one of them."""
            node.meta["val"] = super().run_node(node)
            return node.meta["val"]

    return Remembering


def _exported(model: Any, arguments: Arguments | None) -> list[Node]:
    if arguments is None:
        raise RefusedValueError("no example_input")
    with quiet(), _torch().no_grad():
        found = _torch().export.export(model, arguments.by_place, arguments.by_name)
    signature = found.graph_signature
    lifted = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    return list(Reading(found.graph_module, lifted, main_device(model)).nodes())


def _modules(model: Any) -> Iterator[Node]:
    """The modules that hold no others, with their parameters."""
    for path, module in model.named_modules():
        if not list(module.children()):
            scope = scope_of(path)
            parameters = [parameter(f"{scope}/{name}".lstrip("/"), value) for name, value in module.named_parameters(recurse=False)]
            yield from parameters
            name = f"{scope}/{class_of(module)}".lstrip("/")
            yield Node(name, class_of(module), tuple(each.name for each in parameters), settings_of(module))


TORCH = TorchSource()
