"""Histograms of the network's parameters: ``<name>/auto``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from summarykit.collectors.known import Known
from summarykit.collectors.network import in_parts, named_parameters
from summarykit.collectors.part import Part, Sink
from summarykit.collectors.settings import Settings
from summarykit.kinds.immutable import frozen_together
from summarykit.notices import Notices
from summarykit.training.context import CallbackParams

DEFAULT_COUNT = 5
"""So many are recorded where no regular expression chooses them."""


class Chosen(Part):
    """Histograms of what ``histogram_regular`` chooses: the names that it matches from their beginning; by default the first five.

    Of what is sharded there is none: each process holds a part of it.
    """

    suffix: str
    """What follows the parameter's name in the tag."""

    known = Known
    """What finds them."""

    def __init__(self, settings: Settings, notices: Notices) -> None:
        """See ``Part``."""
        super().__init__(settings, notices)
        self._in_parts: frozenset[str] = frozenset()
        self._known = self.known(partial(chosen, settings=settings))

    def missing(self, network: Any) -> None:
        """Tell once that nothing was found, and what to do."""
        raise NotImplementedError

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Look what cannot be told."""
        self._in_parts = in_parts(params.get("network"))

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect what is chosen."""
        network = params.get("network")
        found = self._known.of(network)
        for (name, _), value in zip(found, self.held([value for _, value in found]), strict=True):
            if name in self._in_parts:
                self.notices.once(("in parts", self.suffix), "%s/%s is sharded: of what is, no histograms are recorded", name, self.suffix)
            else:
                sink.add("histogram", f"{name}/{self.suffix}", value)
        if network is not None and not found:
            self.missing(network)

    def end(self) -> None:
        """Let go of the network."""
        self._known.forget()

    def held(self, values: Sequence[Any]) -> Sequence[Any]:
        """What to record of them; a part that knows when they will change need not have them copied now."""
        return frozen_together(values)


def chosen(named: Iterable[tuple[str, Any]], settings: Settings) -> Iterator[tuple[str, Any]]:
    """Keep what ``histogram_regular`` chooses."""
    pattern = settings.specified.get("histogram_regular")
    if pattern is None:
        return islice(named, DEFAULT_COUNT)
    matches = re.compile(pattern).match
    return ((name, value) for name, value in named if matches(name))


def expression(key: str, value: Any) -> None:
    """Refuse what is neither None nor a regular expression."""
    if not (value is None or isinstance(value, str)):
        raise TypeError(f"{key}: a regular expression as text, or None, is needed, got {value!r}")
    try:
        re.compile(value or "")
    except re.error as error:
        raise ValueError(f"{key}: {value!r} is no regular expression: {error}") from error


class Parameter(Chosen):
    """Histograms of the parameters as they are after the step."""

    key = "histogram_regular"
    default = None
    suffix = "auto"

    @classmethod
    def check(cls, value: Any) -> None:
        """Refuse what is neither None nor a regular expression."""
        expression(cls.key, value)

    @classmethod
    def wanted(cls, settings: Settings) -> bool:
        """True where the key is there; None asks for the first five."""
        return cls.key in settings.specified

    def missing(self, network: Any) -> None:
        """Tell what the parameters' names are, or that there are none."""
        known = [name for name, _ in named_parameters(network)]
        if known:
            pattern = self.settings.specified["histogram_regular"]
            self.notices.once("regular", "histogram_regular %r matches no parameter; their names: %s", pattern, ", ".join(known[:20]))
        elif getattr(network, "parameters", None) != {}:    # a model of trees says itself that it has none
            self.notices.once("network", "no parameters found in a network of type %s", type(network).__name__)
