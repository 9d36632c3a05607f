"""Running statistics that a function of the user's computes: where a network is a mapping, nobody else knows what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from summarykit.landscape import samples
from summarykit.landscape.models.base import Evaluation

Statistics = Callable[[Any, Any], Mapping[str, Any]]
"""Told parameters and a batch, gives those entries of the parameters that are statistics, of this batch alone."""


def given(model: Any, network: Any, evaluation: Evaluation) -> Statistics | None:
    """The function, if statistics are to be estimated: the first of what ``callback_fn`` gives.

    Raises:
        ValueError: there is none, or the network has no names.
    """
    if evaluation.batch_norm != "estimated":
        return None
    if not callable(model) or not isinstance(network, Mapping):
        raise ValueError(
            "batch_norm='estimated' needs to know the statistics: callback_fn must give as network a mapping, and as model a function "
            "(network, batch) that returns the entries of it that are statistics, computed from the batch alone, such as "
            f"{{'batch_stats': ...}}; got a network of type {type(network).__name__} and as model {model!r}"
        )
    return model


def mean(statistics: Statistics, network: Mapping[str, Any], batches: Sequence[Any], average: Callable[..., Any]) -> Mapping[str, Any]:
    """Those entries, averaged over the batches; each counts by its samples.

    Args:
        statistics: computes them.
        network: the parameters.
        batches: the samples.
        average: gives the mean of entries of one name, told the share of each and the entries.

    Raises:
        ValueError: the network has no such entry.
    """
    found = [statistics(network, batch) for batch in batches]
    if not found[0].keys() <= network.keys():
        raise ValueError(f"the statistics {sorted(found[0].keys() - network.keys())} are no entries of the network: {sorted(network)}")
    sizes = [samples.size_of(batch) for batch in batches]
    shares = [size / sum(sizes) for size in sizes]
    return {name: average(shares, *(each[name] for each in found)) for name in found[0]}
