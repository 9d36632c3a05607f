"""The graph of the network, once a run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from summarykit.collectors.part import Part, Sink
from summarykit.kinds.graph import source_of
from summarykit.kinds.graphs.source import Guess
from summarykit.notices import logger
from summarykit.training.context import CallbackParams


class Graph(Part):
    """Graph ``graph``, read after the first step that is collected: nothing is computed, nothing of the network changes.

    It is read in the training's thread, since a tracer exchanges parts of the framework while it works. Where the network is no object
    that could be traced, an adapter may leave a function in the parameters, under ``traced``: it is called with the batch, and gives what
    to trace and an example of its arguments.
    """

    key = "collect_graph"
    traced = "graph_traced"

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._done = False

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Read it, the first time."""
        network, batch = _network(params), params.get("train_dataset_element")
        if self._done or network is None:
            return
        self._done = True
        if ask := params.get(self.traced):
            network, example = ask(batch)
        else:
            example = Guess(example_of(network, batch))
        if isinstance(network, Mapping) or source_of(network) is None:
            logger.info("graph: nobody can read that of a network of type %s", type(network).__name__)
        else:
            sink.add("graph", "graph", network, example_input=example)


def _network(params: CallbackParams) -> Any:
    """The bare one; of MindSpore what is trained, which alone is compiled."""
    trained = params.get("train_network")
    return trained if hasattr(trained, "get_func_graph_proto") else params.get("network")


def example_of(network: Any, batch: Any) -> Any:
    """What of a batch the network may be called with: as many of its first elements as ``forward`` needs; None: nobody can tell."""
    forward = getattr(network, "forward", None)
    if batch is None or forward is None:
        return None
    try:
        return tuple(batch[: max(needed(forward), 1)]) if isinstance(batch, (tuple, list)) else batch
    except ValueError:    # TorchScript and functions of C do not say what they take
        return None


def needed(function: Any) -> int:
    """Number of arguments that a function cannot do without."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return sum(each.kind in kinds and each.default is inspect.Parameter.empty for each in parameters)
