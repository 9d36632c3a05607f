"""Histograms of the gradients: ``<name>/gradient``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from summarykit.collectors.network import named_gradients, named_parameters
from summarykit.collectors.parameter import Chosen, chosen


class Gradient(Chosen):
    """Histograms of the gradients as they are after the step: zero them before the next one, not at its end."""

    key = "collect_gradient"
    suffix = "gradient"

    def named(self, network: Any) -> Iterator[tuple[str, Any]]:
        """Give the gradients."""
        return named_gradients(network)

    def missing(self, network: Any) -> None:
        """Tell where gradients were to be expected; many frameworks keep none."""
        if any(hasattr(value, "grad") for _, value in chosen(named_parameters(network), self.settings)):
            self.notices.once("gradient", "no gradients at the end of a step: zero them before backward(), not after the update")
