"""Finds formats, kinds, commands … by name: ours by module, those of others by entry point."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """A lazy table of named objects.

    Nothing is imported before it is asked for; third parties add theirs with an entry point in the group
    ``summarykit.<what>``, such as ``[project.entry-points."summarykit.kinds"] molecule = "pkg.module:KIND"``.
    """

    def __init__(self, what: str, ours: Mapping[str, str]) -> None:
        """Make a table.

        Args:
            what: plural noun, the entry-point group's last part (``"kinds"``).
            ours: name -> ``"module:attribute"``.
        """
        self.what = what
        self._ours = dict(ours)
        self._found: dict[str, T] = {}

    def get(self, name: str) -> T:
        """Give the object of that name.

        Raises:
            ValueError: nobody registered that name.
        """
        try:
            return self._found[name]
        except KeyError:
            pass
        if name in self._ours:
            module, attribute = self._ours[name].split(":")
            found: T = getattr(importlib.import_module(module), attribute)
        else:
            found = self._load_third_party(name)
        return self._found.setdefault(name, found)

    def names(self) -> list[str]:
        """All names, ours first."""
        return list(self)

    def __iter__(self) -> Iterator[str]:
        yield from self._ours
        yield from (point.name for point in self._entry_points() if point.name not in self._ours)

    def __contains__(self, name: object) -> bool:
        return name in self._ours or any(name == point.name for point in self._entry_points())

    def _entry_points(self) -> Iterable[EntryPoint]:
        from importlib.metadata import entry_points    # takes as long to import as half of NumPy

        return entry_points(group=f"summarykit.{self.what}")

    def _load_third_party(self, name: str) -> T:
        for point in self._entry_points():
            if point.name == name:
                loaded: T = point.load()
                return loaded
        raise ValueError(f"{self.what}: {name!r} is not known; allowed: {', '.join(self)}")
