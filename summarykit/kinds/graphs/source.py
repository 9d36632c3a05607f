"""What every source of graphs offers."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from summarykit.shapes import Graph


class Guess(NamedTuple):
    """An example of an input that the user did not give: where it does not fit, nobody is to blame."""

    value: Any


class Source(Protocol):
    """Reads the models of one framework. It imports none: whose model exists, that framework is loaded."""

    def owns(self, value: Any) -> bool:
        """Tell whether this is one of its models."""

    def graph(self, value: Any, example_input: Any) -> Graph:
        """Give what the model computes; the model stays as it is.

        Args:
            value: the model.
            example_input: what it could be called with, or a `Guess` of that; None: not known.

        Raises:
            RefusedValueError: it cannot be read; the message says why.
        """


class Names:
    """Gives each node a name of its own: ``"relu"``, ``"relu_1"`` and so on."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> str:
        """Give this name, with a number where it is taken."""
        found, number = name, 0
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found


def short(value: object, limit: int = 200) -> str:
    """Give a value's text, cut where it would fill the page."""
    text = str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
