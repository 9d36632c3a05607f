"""What every kind of value offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from summarykit.shapes import Shape


class Snapshot(Protocol):
    """A value frozen at the call: later changes of the user's object do not reach it. NumPy arrays are snapshots."""

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""


class Kind(Protocol):
    """One kind of value: ``snapshot`` runs in the training thread, ``reduce`` wherever there is time.

    A kind may also have ``small``, up to how many bytes reducing a value takes a fraction of a millisecond; ``light``, True where it is
    no work at all; and ``reduce_many``, which takes a list of snapshots and gives the list of their shapes, where that is sooner done
    than one by one (where it raises, they are done one by one).
    """

    name: str

    def snapshot(self, value: Any, **options: Any) -> Any:
        """Check and freeze a value, at the cost of at most one copy.

        Raises:
            RefusedValueError: it cannot be recorded; the message says why.
        """

    def reduce(self, snapshot: Any) -> Shape:
        """Turn a snapshot into its shape (the heavy part).

        Raises:
            RefusedValueError: it turned out to be unfit.
        """


def no_options(kind: str, options: Mapping[str, Any]) -> None:
    """Refuse keywords that a kind does not have, as a Python signature would.

    Raises:
        TypeError: there are some.
    """
    if options:
        raise TypeError(f"{kind} takes no option {', '.join(map(repr, options))}")
