"""What the spans of a trace are: each pair of category and name is looked at once, however often it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, cast

import numpy as np

from summarykit.profiler.parsers.columns import numbering, numbers
from summarykit.profiler.recording import Category
from summarykit.shapes import Array


class Kind(NamedTuple):
    """What a span is, and whether its lane belongs to a device."""

    category: Category
    device: bool = False


Classify = Callable[[str, str], Kind]
"""Says what a span is, by the category that its writer gave it (empty where none) and its name."""


class Kinds:
    """The kinds that a trace has, by number.

    Attributes:
        names: the texts that are numbered in ``name``.
        category: uint8, shape ``[kinds]``.
        device: bool, shape ``[kinds]``.
        name: int32, shape ``[kinds]``: index into ``names``.
    """

    def __init__(self, classify: Classify) -> None:
        """Know no kind yet."""
        self._classify = classify
        self._kinds, self._names = numbering(), numbering()
        self.category, self.device, self.name = np.empty(0, np.uint8), np.empty(0, np.bool_), np.empty(0, np.int32)

    @property
    def names(self) -> list[str]:
        """All names, in the order of their numbers."""
        return [str(name) for name in self._names]

    @property
    def words(self) -> list[str]:
        """All categories, in the writer's words."""
        return sorted({str(cast("tuple[str, str]", kind)[0]) for kind in self._kinds})

    def numbered(self, words: Iterable[str], names: Iterable[str]) -> Array:
        """The kind of each span: int32, shape ``[spans]``."""
        found = numbers(self._kinds, zip(words, names, strict=True))
        if len(self._kinds) > len(self.category):
            self._learn()
        return found

    def _learn(self) -> None:
        new = cast("list[tuple[str, str]]", list(self._kinds)[len(self.category) :])
        kinds = [self._classify(str(word), str(name)) for word, name in new]
        self.category = np.append(self.category, np.array([kind.category for kind in kinds], np.uint8))
        self.device = np.append(self.device, [kind.device for kind in kinds])
        self.name = np.append(self.name, numbers(self._names, (name for _, name in new)))
