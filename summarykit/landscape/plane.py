"""A plane through a point in the space of a model's parameters: the centre and two directions, in a file.

They are mapped, not read: processes on one machine share them, and the operating system may let go of what it needs room for. So the
memory of a survey does not depend on the number of its points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.formats.narrow import WIDENED
from summarykit.landscape.checkpoint import open_weights
from summarykit.landscape.weights import Place, Weights, header
from summarykit.shapes import Array

CENTRE, FIRST, SECOND = "centre/", "first/", "second/"


class Plane:
    """The points ``centre + x * first + y * second``; parameters that a direction does not move have no entry in it.

    Attributes:
        file: where it is.
        told: what its maker says of it.
    """

    def __init__(self, file: Path) -> None:
        """Map a plane that `lay_out` made.

        Raises:
            OSError: it cannot be read.
            ValueError: it is something else.
        """
        self.file = file
        self._weights = open_weights(file)
        self.told = self._weights.told

    @cached_property
    def centre(self) -> dict[str, Array]:
        """All of the model's state where x and y are 0."""
        return self._mapped(CENTRE)

    @cached_property
    def directions(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """The two directions."""
        return self._mapped(FIRST), self._mapped(SECOND)

    def at(self, x: float, y: float) -> Iterator[tuple[str, Array]]:
        """The state at a point, one parameter after the other; each is computed in its own dtype and independent of all others."""
        first, second = self.directions
        for name, value in self.centre.items():
            moved = value
            for direction, length in ((first, x), (second, y)):
                if name in direction and length != 0:
                    moved = moved + direction[name] * value.dtype.type(length)
            yield name, moved

    def _mapped(self, prefix: str) -> dict[str, Array]:
        # "c": pages are the file's until somebody writes to them, which frameworks ask to be possible
        content: Any = np.memmap(self.file, np.uint8, "c")
        return {name[len(prefix):]: _view(content, place) for name, place in self._weights.places.items() if name.startswith(prefix)}


def lay_out(file: Path, centre: Weights, moved: list[str], told: Mapping[str, Any]) -> dict[str, dict[str, Array]]:
    """Make the file of a plane: the centre is there, the directions are 0.

    Returns:
        By prefix and name, the arrays in the file, to be filled.

    Raises:
        OSError: it cannot be written.
    """
    forms = {CENTRE + name: (_plain(place.dtype), place.shape) for name, place in centre.places.items()}
    forms |= {prefix + name: forms[CENTRE + name] for prefix in (FIRST, SECOND) for name in moved}
    with open(file, "wb") as stream:
        stream.write(header(forms, told))
        for name in centre.places:
            stream.write(np.asarray(centre.read(name), _plain(centre.places[name].dtype)).data)
        size = sum(Place(0, dtype, shape).itemsize * Place(0, dtype, shape).size for dtype, shape in forms.values())
        stream.truncate(len(header(forms, told)) + size)
    content: Any = np.memmap(file, np.uint8, "r+")
    found = open_weights(file).places
    prefixes: dict[str, dict[str, Array]] = {CENTRE: {}, FIRST: {}, SECOND: {}}
    for name, place in found.items():
        prefix, _, parameter = name.partition("/")
        prefixes[prefix + "/"][parameter] = _view(content, place)
    return prefixes


def _plain(dtype: str) -> str:
    """A dtype to compute in: float16 and what NumPy does not have become float32."""
    return "float32" if dtype in WIDENED or dtype == "float16" else dtype


def _view(content: Any, place: Place) -> Array:
    stop = place.offset + place.size * place.itemsize
    return np.asarray(content[place.offset : stop].view(np.dtype(place.dtype).newbyteorder("<")).reshape(place.shape))
