"""Graph: what a model computes. It is read in the call, since the model goes on changing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import described
from summarykit.kinds.graphs import SOURCES, Source
from summarykit.kinds.kind import no_options
from summarykit.shapes import Graph

_NODE_BYTES = 500    # memory of one node, about


@dataclass(frozen=True, eq=False)
class Drawn:
    """A graph that was read."""

    graph: Graph

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, about."""
        return _NODE_BYTES * len(self.graph.nodes)


def source_of(value: Any) -> Source | None:
    """Find who can read a model; None: nobody."""
    return next((source for source in map(SOURCES.get, SOURCES) if source.owns(value)), None)


class GraphKind:
    """A model's graph, for the graph pages of TensorBoard and MindInsight.

    Takes a ``torch.nn.Module``, a Keras model, a function of JAX (with an example of its arguments), a MindSpore network or the bytes of
    its graph, the path of an ONNX file or an ``onnx.ModelProto``, a mapping (see `PlainSource`) or a `Graph`. Others register as
    ``summarykit.graphs``. The first tag's graph is the run's own; those of other tags are shown beside it, in both viewers.
    """

    name = "graph"

    def snapshot(self, value: Any, *, example_input: Any = None, beside: bool = False, **options: Any) -> Drawn:
        """Read the graph; the model stays as it is, and computes nothing.

        Args:
            value: the model.
            example_input: what the model could be called with (a tensor, or a tuple of all its arguments): it brings the shapes, and reads
                models whose code depends on them.
            beside: show it beside the graph that the run in this directory has already, which another writer recorded.
            **options: none other.

        Raises:
            RefusedValueError: nobody can read this model, or the reader failed.
        """
        no_options(self.name, options)
        source = source_of(value)
        if source is None:
            raise RefusedValueError(f"graph cannot be read of {described(value)}; known: {', '.join(SOURCES)}")
        try:
            graph = source.graph(value, example_input)
            return Drawn(replace(graph, beside=True) if beside else graph)
        except RefusedValueError:
            raise
        except Exception as error:  # a model, or a source, may be anybody's code
            raise RefusedValueError(f"graph of {described(value)} could not be read: {type(error).__name__}: {error}") from error

    def reduce(self, snapshot: Drawn) -> Graph:
        """Give the graph."""
        return snapshot.graph


GRAPH = GraphKind()
