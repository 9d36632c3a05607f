"""Values with named fields that never change: what a frozen dataclass is, without the half millisecond that making its class takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: bool) -> Any:
        """What type checkers go by; at run time it does nothing."""
        return lambda cls: cls


T = TypeVar("T", bound="Immutable")


@cache
def _as_dataclass(cls: Any) -> Any:
    """A dataclass of the same fields."""
    from dataclasses import MISSING, field, make_dataclass
    from inspect import signature

    fresh, plain = cls._fresh, cls._defaults
    given = [field(default_factory=dict) if name in fresh else field(default=plain.get(name, MISSING)) for name in cls._types]
    made: Any = make_dataclass(cls.__name__, zip(cls._types, cls._types.values(), given, strict=True), frozen=True)
    made.__signature__ = signature(made)
    return made


FEW = 64
"""So many objects of a class are made without compiling anything for it."""

_FRESH = object()
_made: dict[Any, int] = {}
_quick: set[Any] = set()
"""Classes that have an ``__init__`` of their own: `_initializer`'s."""


@cache
def _initializer(cls: Any) -> Any:
    """What a dataclass' ``__init__`` is. It takes 0.2 ms to make: only a class of which there are many, or one that is misused, has one."""
    defaults = {**cls._defaults, **dict.fromkeys(cls._fresh, _FRESH)}
    taken = "".join(f", {name}={name}" if name in defaults else f", {name}" for name in cls.__match_args__)
    given = {name: f"{{}} if {name} is _FRESH else {name}" if name in cls._fresh else name for name in cls.__match_args__}
    lines = [f"_mine[{name!r}] = {value}" for name, value in given.items()]
    space = {**defaults, "_FRESH": _FRESH}
    source = "\n    ".join([f"def __init__(self{taken}):", "_mine = self.__dict__", *lines, "self.__post_init__()"])
    exec(compile(source, "<fields>", "exec"), space)    # of text, Python forgets that Ctrl-C ends the process, and with which status
    made: Any = space["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


class _OfDataclass:
    """Made when somebody asks: ``dataclasses``, ``pprint``, ``help`` know these classes, ``@dataclass(frozen=True)`` may extend them."""

    def __set_name__(self, _: object, name: str) -> None:
        self._name = name

    def __get__(self, _: object, cls: Any) -> Any:
        return getattr(_as_dataclass(cls), self._name)


@dataclass_transform(frozen_default=True)
class Immutable:
    """Base of such classes; the annotated names of a subclass are its fields, in order, and what these are set to are their defaults.

    A default ``{}`` is a new one in each object. With ``eq=False`` an object equals itself alone: arrays have no single truth value.
    """

    __match_args__: tuple[str, ...] = ()
    __dataclass_fields__ = _OfDataclass()
    __dataclass_params__ = _OfDataclass()
    __signature__ = _OfDataclass()
    _types: Mapping[str, Any] = {}
    _defaults: Mapping[str, Any] = {}
    _fresh: tuple[str, ...] = ()
    _names: frozenset[str] = frozenset()

    def __init_subclass__(cls, *, eq: bool = True) -> None:
        super().__init_subclass__()
        cls._types = {**cls._types, **cls.__annotations__}
        cls.__match_args__ = tuple(cls._types)    # type: ignore[misc]  # mypy writes them itself
        cls._defaults = {name: getattr(cls, name) for name in cls.__match_args__ if hasattr(cls, name)}
        cls._fresh = tuple(name for name, default in cls._defaults.items() if isinstance(default, dict))
        cls._names = frozenset(cls.__match_args__)
        if not eq:
            cls.__eq__, cls.__hash__ = object.__eq__, object.__hash__    # type: ignore[method-assign]
        for base in _quick.intersection(cls.__mro__):
            _quick.remove(base)
            del base.__init__

    def __init__(self, *values: Any, **named: Any) -> None:
        """Take the fields in order or by name.

        Raises:
            TypeError: one is missing, is given twice, or there is none of that name.
        """
        cls: Any = type(self)
        given = {**dict(zip(cls.__match_args__, values)), **named}    # noqa: B905  their number is looked at below
        complete = {**cls._defaults, **{name: {} for name in cls._fresh}, **given}
        _made[cls] = number = _made.get(cls, 0) + 1
        if number <= FEW and len(given) == len(values) + len(named) and complete.keys() == cls._names:
            self.__dict__.update(complete)
            self.__post_init__()
            return
        made = _initializer(cls)
        if cls.__init__ is Immutable.__init__ and not cls.__subclasses__():    # these would inherit it
            _quick.add(cls)
            cls.__init__ = made
        made(self, *values, **named)

    def __post_init__(self) -> None:
        """Called when the fields are set."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set: make another object, with dataclasses.replace")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__match_args__)})"

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple([getattr(self, name) for name in self.__match_args__]))

    def __replace__(self: T, **changes: Any) -> T:
        return type(self)(**{**vars(self), **changes})
