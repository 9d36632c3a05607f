"""Functions of JAX: traced with an example of their arguments; nothing is computed.

Scopes are those of ``jax.named_scope`` (Flax sets one for each module) and the names of jitted functions; what differentiation adds lies
in the scope ``backward``. Of ``scan`` the body is shown once; ``while`` and ``cond`` are one node each.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.kinds.graphs.source import Names, short
from summarykit.shapes import Graph, Node, TensorType

_BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")    # parameters of operations that are a call of one function
_TRANSFORMS = re.compile(r"\b(?:jvp|transpose|vmap|remat|checkpoint|pmap)\(|\)")
_LEAF = re.compile(r"(?!args/\d+$)[^/]+/.+")    # an argument within a container; those of *args are arguments
_PATH = re.compile(r"\['?([^'\]]*)'?\]|\.(\w+)")    # params['dense'][0].kernel


class JaxSource:
    """A function, jitted or not, or a callable module; ``example_input`` holds all its arguments (``jax.ShapeDtypeStruct`` will do)."""

    def owns(self, value: Any) -> bool:
        """Tell whether it may be one: JAX is loaded, and this is a function, a jitted one or a module of Flax."""
        is_function = inspect.isroutine(value) or isinstance(value, partial) or hasattr(value, "lower") or _is_flax(value)
        return "jax" in sys.modules and callable(value) and not isinstance(value, type) and is_function

    def graph(self, value: Any, example_input: Any) -> Graph:
        """Give the graph; arguments that lie in containers are taken for parameters, the others for inputs.

        Raises:
            RefusedValueError: there is no example.
        """
        if example_input is None:
            raise RefusedValueError("graph of a JAX function needs example_input=: a tuple of all its arguments")
        arguments = example_input if isinstance(example_input, tuple) else (example_input,)
        closed = sys.modules["jax"].make_jaxpr(value)(*arguments)
        return Graph(tuple(_Reading().nodes(closed)), str(getattr(value, "__name__", type(value).__name__)))


def _is_flax(value: Any) -> bool:
    return any(kind.__module__.startswith("flax") for kind in type(value).__mro__)


class _Reading:
    """One traced function: its nodes in the order of the calls."""

    def __init__(self) -> None:
        self._names = Names()

    def nodes(self, closed: Any) -> Iterator[Node]:
        """Its inputs, operations and outputs."""
        jaxpr = closed.jaxpr
        given: dict[Any, str] = {}
        for variable, name in zip(jaxpr.invars, _argument_names(jaxpr), strict=True):
            given[variable] = self._names.new(name)
            yield Node(given[variable], Node.PARAMETER if _LEAF.fullmatch(name) else Node.INPUT, outputs=(_type(variable),))
        for variable in jaxpr.constvars:
            given[variable] = self._names.new("constant")
            yield Node(given[variable], Node.CONSTANT, outputs=(_type(variable),))
        yield from self._body(jaxpr, given, "")
        for variable in jaxpr.outvars:
            yield Node(self._names.new("output"), Node.OUTPUT, _sources([variable], given), outputs=(_type(variable),))

    def _body(self, jaxpr: Any, given: dict[Any, str], outer: str) -> Iterator[Node]:
        alone = len(jaxpr.eqns) == 1 and not outer
        for equation in jaxpr.eqns:
            scope = _join(outer, _scope(str(equation.source_info.name_stack)))
            inner = _callee(equation)
            if inner is None:
                yield self._node(equation, given, scope)
            else:
                yield from self._call(equation, inner, given, scope if alone else _join(scope, _name(equation)))

    def _call(self, equation: Any, inner: Any, given: dict[Any, str], scope: str) -> Iterator[Node]:
        """What the called function does, in its caller's place."""
        own = {there: given[here] for there, here in zip(inner.invars, equation.invars, strict=True) if _is_given(here, given)}
        for variable in inner.constvars:
            own[variable] = self._names.new(_join(scope, "constant"))
            yield Node(own[variable], Node.CONSTANT, outputs=(_type(variable),))
        yield from self._body(inner, own, scope)
        given.update((here, own[there]) for here, there in zip(equation.outvars, inner.outvars, strict=True) if _is_given(there, own))

    def _node(self, equation: Any, given: dict[Any, str], scope: str) -> Node:
        op = equation.primitive.name
        name = self._names.new(_join(scope, op))
        node = Node(name, op, _sources(equation.invars, given), _attributes(equation), tuple(map(_type, equation.outvars)))
        given.update(dict.fromkeys(equation.outvars, name))
        return node


def _callee(equation: Any) -> Any:
    """The function that an operation calls, where all goes in and out as it comes; else None."""
    for name in _BODIES:
        found = equation.params.get(name)
        found = getattr(found, "jaxpr", found)
        if found is not None and (len(found.invars), len(found.outvars)) == (len(equation.invars), len(equation.outvars)):
            return found
    return None


def _name(equation: Any) -> str:
    """Of what is called: ``"relu"``; rules for its derivative have none."""
    name = equation.primitive.name
    return str(equation.params.get("name", "" if name.startswith("custom_") else name))


def _argument_names(jaxpr: Any) -> list[str]:
    told = getattr(jaxpr.debug_info, "arg_names", None) or ()
    names = [_PATH.sub(lambda part: f"/{part[1] or part[2]}", str(name)) for name in told]
    return names if len(names) == len(jaxpr.invars) else [f"argument_{number}" for number in range(len(jaxpr.invars))]


def _sources(variables: Any, given: dict[Any, str]) -> tuple[str, ...]:
    return tuple(given[variable] for variable in variables if _is_given(variable, given))


def _is_given(variable: Any, given: dict[Any, str]) -> bool:
    """Whether a node gives it: literals have no node, and no hash."""
    return not hasattr(variable, "val") and variable in given


def _scope(stack: str) -> str:
    plain = "/".join(part for part in _TRANSFORMS.sub("", stack).split("/") if part)
    return _join("backward", plain) if "transpose(" in stack else plain


def _join(outer: str, inner: str) -> str:
    return "/".join(filter(None, (outer, inner)))


def _type(variable: Any) -> TensorType:
    kind = variable.aval
    shape = tuple(size if isinstance(size, int) else -1 for size in kind.shape) if hasattr(kind, "shape") else None
    return TensorType(str(getattr(kind, "dtype", "")), shape)


def _attributes(equation: Any) -> dict[str, Any]:
    """What was said in the call, and literal operands."""
    literals = [short(variable.val) for variable in equation.invars if hasattr(variable, "val")]
    told = {name: value for name, value in equation.params.items() if value is not None and not _is_function(value)}
    return {name: value if isinstance(value, (bool, int, float, str)) else short(value) for name, value in told.items()} | (
        {"literals": literals} if literals else {}
    )


def _is_function(value: Any) -> bool:
    values = value if isinstance(value, (tuple, list)) else (value,)
    return any(hasattr(each, "eqns") or hasattr(each, "jaxpr") or callable(each) for each in values)


JAX = JaxSource()
