"""Texts that spans and counters carry, each kept once for the whole process: a number is all that is written per event."""

from __future__ import annotations

from summarykit.profiler.locks import fork_safe
from summarykit.profiler.recording import Category


class Names:
    """Gives each pair of category and text a number, in the order in which they come.

    Attributes:
        entries: the pairs by number; only ever appended to.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[int, str]] = []
        self._numbers: dict[tuple[int, str], int] = {}
        self._lock = fork_safe()

    def number(self, text: str, category: Category = Category.OTHER) -> int:
        """The number of a text."""
        entry = int(category), text
        found = self._numbers.get(entry)
        return self._add(entry) if found is None else found

    def find(self, text: str, category: Category = Category.OTHER) -> int:
        """The number of a text, -1 where it has none."""
        return self._numbers.get((int(category), text), -1)

    def _add(self, entry: tuple[int, str]) -> int:
        with self._lock:
            if entry not in self._numbers:
                self.entries.append(entry)
                self._numbers[entry] = len(self.entries) - 1
            return self._numbers[entry]


NAMES = Names()
