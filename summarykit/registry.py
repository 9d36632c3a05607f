"""Finds formats, kinds, commands … by name: ours by module, those of others by entry point."""

from __future__ import annotations

import importlib
import logging  # noqa: F401  see below
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

# Held while something is imported, and across each fork: a child forked by another thread in the middle of an import would find that
# module locked for ever. ``logging`` does the same with its own lock. Having registered before, it is waited for after this one: in the
# order in which a thread takes them that imports a module which asks for its logger.
_importing = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release)


@cache
def imported(module: str) -> Any:
    """Import a module when it is needed, in whatever thread that is."""
    with _importing:
        return importlib.import_module(module)


class Registry(Generic[T]):
    """A lazy table of named objects.

    Nothing is imported before it is asked for; third parties add theirs with an entry point in the group
    ``summarykit.<what>``, such as ``[project.entry-points."summarykit.kinds"] molecule = "pkg.module:KIND"``.
    """

    def __init__(self, what: str, ours: Mapping[str, str]) -> None:
        """Make a table.

        Args:
            what: plural noun, the entry-point group's last part (``"kinds"``).
            ours: name -> ``"module:attribute"``, or ``"module"`` where the module itself is the object.
        """
        self.what = what
        self._ours = dict(ours)
        self._found: dict[str, T] = {}

    def get(self, name: str) -> T:
        """Give the object of that name.

        Raises:
            ValueError: nobody registered that name.
            TypeError: it is no name.
            ImportError: its module cannot be imported.
        """
        try:
            return self._found[name]
        except KeyError:
            pass
        except TypeError:    # a list, say
            raise TypeError(f"{self.what}: a name is needed, got {name!r}; allowed: {', '.join(self)}") from None
        with _importing:
            return self._found.setdefault(name, self._load(name))

    def names(self) -> list[str]:
        """All names, ours first."""
        return list(self)

    def __iter__(self) -> Iterator[str]:
        yield from self._ours
        yield from (point.name for point in self._entry_points() if point.name not in self._ours)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._ours or any(name == point.name for point in self._entry_points()))

    def _entry_points(self) -> Iterable[EntryPoint]:
        from importlib.metadata import entry_points  # takes as long to import as half of NumPy

        return entry_points(group=f"summarykit.{self.what}")

    def _load(self, name: str) -> T:
        if name not in self._ours:
            return self._load_third_party(name)
        module, _, attribute = self._ours[name].partition(":")
        found: T = importlib.import_module(module)    # type: ignore[assignment]  # where there is no attribute, it is the object
        if attribute and not hasattr(found, attribute):
            raise ImportError(f"{self.what}: {name!r} is just being imported (a signal handler interrupted that)")
        return getattr(found, attribute) if attribute else found

    def _load_third_party(self, name: str) -> T:
        for point in self._entry_points():
            if point.name == name:
                loaded: T = point.load()
                return loaded
        raise ValueError(f"{self.what}: {name!r} is not known; allowed: {', '.join(self)}")
