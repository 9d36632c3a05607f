"""A run's points by kind and tag, twins merged: all of them (raw) or those that count (resolved)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from summarykit.reading import resolve
from summarykit.reading.damage import Damage
from summarykit.reading.segments import segments
from summarykit.reading.source import Key, Source
from summarykit.reading.track import Track
from summarykit.reading.twins import units

_FIRST = ("scalar", "histogram", "image", "tensor")


class View:
    """What the files of a run hold at this moment."""

    def __init__(self, sources: Sequence[Source], *, raw: bool) -> None:
        self._units = units(sources)
        self._segments = segments(self._units)
        self._pick = resolve.raw if raw else resolve.resolved
        self._tracks: dict[Key, Track] = {}

    @property
    def keys(self) -> list[Key]:
        """Kind and tag of everything, the common kinds first."""
        found = {key for unit in self._units for key in unit.keys}
        return sorted(found, key=lambda key: (_FIRST.index(key[0]) if key[0] in _FIRST else len(_FIRST), key))

    def track(self, key: Key) -> Track:
        """The points of one kind and tag.

        Raises:
            KeyError: there is no such tag; the message names those that are alike.
        """
        if key not in self._tracks:
            self._check(key)
            self._tracks[key] = self._pick(self._segments, key)
        return self._tracks[key]

    def losses(self) -> list[Damage]:
        """Damage whose records no twin has either."""
        return [loss for unit in self._units for loss in unit.losses()]

    def _check(self, key: Key) -> None:
        kind, tag = key
        tags = [name for each, name in self.keys if each == kind]
        if tag not in tags:
            alike = difflib.get_close_matches(str(tag), tags, 5, 0.3) or tags[:5]
            kinds = ", ".join(dict.fromkeys(each for each, _ in self.keys))
            there = f"there are {', '.join(map(repr, alike))}" if alike else f"this run holds no {kind}, but {kinds or 'nothing'}"
            raise KeyError(f"no {kind} with tag {tag!r}; {there}")
