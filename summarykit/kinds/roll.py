"""The parameters that a training loop records in each step: known from the last one, they cost less than each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Later, Typed
from summarykit.kinds.fence import CHANGED, FENCE, Fenced, Seen
from summarykit.kinds.memory import Lending


class Copies:
    """Parameters of one step that are yet to be copied. Iterating, once, gives what became of each, and lets go of it.

    Attributes:
        states: of each parameter nothing until it is recorded; then itself and its version; then its copy, or why there is none; False
            where this step has another value under its tag.
        places: of those to iterate.
        seen: what is known of each parameter.
        entered: the fence knows of them.
    """

    __slots__ = ("_lending", "entered", "places", "seen", "states")

    lasting = False

    def __init__(self, seen: Sequence[Seen], lending: Lending) -> None:
        """Begin with nothing recorded of what was ``seen``. The copies will lie in what is lent."""
        self.states: list[tuple[Any, int] | Typed | str | bool | None] = [None] * len(seen)
        self.places: Sequence[int] = range(len(seen))
        self.entered = False
        self.seen = seen
        self._lending = lending

    def settle(self, order: int = 1) -> None:
        """Copy those that are recorded and not copied yet, in their order or in the opposite one (-1)."""
        for place in range(len(self.states))[::order]:
            self._settle(place)

    def waits(self) -> bool:
        """Whether one is yet to be copied."""
        self.entered = False    # before the look: what is recorded meanwhile is not overlooked, but enters them again
        self.entered = any(state.__class__ is tuple for state in self.states)
        return self.entered

    def let_go(self) -> None:
        """Nobody wants the copies any more: where the pump hangs, what waits for it must not take memory."""
        self.states[:] = ["it was let go of"] * len(self.states)

    def __iter__(self) -> Iterator[Typed | Lost]:
        for place in self.places:
            self._settle(place)
            state, self.states[place] = self.states[place], None
            yield state if isinstance(state, Typed) else Lost(str(state))

    def _settle(self, place: int) -> None:
        if self.states[place].__class__ is tuple:
            with FENCE.copying, self._lending:    # this may be another thread than that which records it, and another time
                state = self.states[place]
                if isinstance(state, tuple):
                    self.states[place] = self.seen[place].copied(*state) or CHANGED


class Lost(Later):
    """A value that was not copied."""

    __slots__ = ("_reason",)

    settled = True

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        self._reason = reason

    def get(self) -> Typed:
        """Tell the reason.

        Raises:
            RefusedValueError: always.
        """
        raise RefusedValueError(self._reason)


Rolled = tuple[list[str], Copies, list[int]]
"""Parameters of one step: their tags, their copies, and their sizes in bytes."""


class Roll:
    """The parameters of one thread, recorded in step after step under the same tags.

    What is known of them is kept from one step to the next, and only what may have changed is looked at: a model has hundreds, and beside a
    step of training every look misses the processor's caches.

    Attributes:
        begun: something came in the present step.
    """

    __slots__ = ("_copies", "_last", "_lending", "_places", "_seen", "_sizes", "_states", "_tags", "begun")

    def __init__(self, known: Mapping[str, Seen], lending: Lending) -> None:
        """Expect parameters under their tags. They will be copied into what is lent."""
        self._tags, self._seen = [*known], [*known.values()]
        self._sizes = [seen.nbytes for seen in self._seen]
        self._places = {tag: place for place, tag in enumerate(known)}
        self._lending = lending
        self._last: Sequence[int] = ()    # what was recorded in the last step that recorded something
        self.begun = False
        self._copies = Copies(self._seen, lending)
        self._states = self._copies.states

    def add(self, tag: str, value: Any) -> bool:
        """Record a value; False where it is not what is expected under this tag, or that was recorded already."""
        place = self._places.get(tag)
        if place is None or self._states[place] is not None:
            return False
        seen: Any = self._seen[place]
        if seen() is not value or value.data_ptr() != seen.address:    # another tensor, or its storage was replaced
            return False
        self._states[place] = value, value._version
        if not self._copies.entered:
            self._copies.entered = self.begun = True
            FENCE.waiting.append(self._copies)
        return True

    def replace(self, tag: str) -> bool:
        """Let another value take a tag in this step; True where there was one already."""
        place = self._places.get(tag)
        if place is None:
            return False
        with FENCE.copying:
            there, self._states[place] = bool(self._states[place]), False
        self.begun = True
        return there

    def close(self) -> Rolled | None:
        """End a step; None where nothing was recorded in it."""
        fresh = Copies(self._seen, self._lending) if self.begun else None    # a call: a signal handler may record in it
        if fresh is None or not self.begun:
            return None
        states, copies = self._states, self._copies
        self._states, self._copies, self.begun = fresh.states, fresh, False
        if all(states):
            self._last = copies.places
            return self._tags, copies, self._sizes
        self._last = copies.places = places = [place for place, state in enumerate(states) if state]
        return ([self._tags[place] for place in places], copies, [self._sizes[place] for place in places]) if places else None

    def known(self) -> dict[str, Seen]:
        """What is known of the parameters that were recorded in the last step that had some, by their tags."""
        return {self._tags[place]: self._seen[place] for place in self._last}


def parameters(values: Mapping[str, Any]) -> dict[str, Seen]:
    """What is known of those values, given by their tags, that are parameters which the fence guards."""
    return {tag: value.seen for tag, value in values.items() if value.__class__ is Fenced}
