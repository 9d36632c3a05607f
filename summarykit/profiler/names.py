"""Texts that spans and counters carry, each kept once for the whole process: a number is all that is written per event."""

from __future__ import annotations

from collections import Counter

from summarykit.notices import logger
from summarykit.profiler.locks import fork_safe
from summarykit.profiler.recording import Category

MOST = 1 << 16
"""Texts of a category, in all windows of a process: about 20 MB. Those that come later are not told apart."""

LONGEST = 1_000
"""Characters of a text that are kept."""

OTHERS = "… (more names than are kept)"


class Names:
    """Gives each pair of category and text a number, in the order in which they come.

    Attributes:
        entries: the pairs by number; only ever appended to.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[int, str]] = []
        self._numbers: dict[tuple[int, str], int] = {}
        self._counts: Counter[int] = Counter()
        self._lock = fork_safe()

    def number(self, text: str, category: Category = Category.OTHER) -> int:
        """The number of a text; that of all others where a category has too many."""
        found = self._numbers.get((int(category), text))
        return self._add(int(category), text[:LONGEST]) if found is None else found

    def find(self, text: str, category: Category = Category.OTHER) -> int:
        """The number of a text, -1 where it has none."""
        return self._numbers.get((int(category), text), -1)

    def _add(self, category: int, text: str) -> int:
        with self._lock:
            if self._counts[category] >= MOST and (category, text) not in self._numbers:
                text = OTHERS
            new = (category, text) not in self._numbers
            if new:
                self.entries.append((category, text))
                self._counts[category] += 1
                self._numbers[category, text] = len(self.entries) - 1
            found = self._numbers[category, text]
        if new and text is OTHERS:    # not within the lock: handlers of logging have locks of their own
            logger.warning("profiler: %d names of one kind: what has another one is not told apart", MOST)
        return found


NAMES = Names()
