"""Running statistics of batch normalisation of Keras, taken anew from some batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from summarykit.landscape import samples


class KerasStatistics:
    """The layers of batch normalisation that training moves; a frozen one keeps what is stored."""

    def __init__(self, network: Any) -> None:
        """Find them, however deep in the model they are."""
        kind = sys.modules["keras"].layers.BatchNormalization
        self._layers = [layer for layer in network._flatten_layers() if isinstance(layer, kind) and layer.trainable]

    def estimate(self, run: Callable[[Any], Any], batches: Sequence[Any]) -> None:
        """Set the statistics to their means over all calls, by samples; ``run`` sends batches through the model in evaluation mode."""
        with _averaging(self._layers) as averages:
            for batch in batches:
                for average in averages:
                    average.samples = samples.size_of(batch)
                run(batch)


class _Average:
    """A layer's call that behaves as in training, and leaves in the layer the mean of what all its calls have seen.

    Attributes:
        samples: in the batch that is sent through; its layer may be called several times.
    """

    def __init__(self, layer: Any) -> None:
        self.samples = 0
        self._layer, self._call = layer, layer.call
        self._seen = 0

    def __call__(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """One call."""
        self._layer.momentum = self._seen / (self._seen + self.samples)    # the share of what was known
        self._seen += self.samples
        return self._call(inputs, training=True, mask=mask)


@contextmanager
def _averaging(layers: Sequence[Any]) -> Iterator[list[_Average]]:
    """Let these layers, and no others, behave as in training."""
    kept = [(layer, layer.momentum, vars(layer).get("call")) for layer in layers]
    averages = [_Average(layer) for layer in layers]
    for layer, average in zip(layers, averages, strict=True):
        layer.call = average
    try:
        yield averages
    finally:
        for layer, momentum, call in kept:
            layer.momentum, layer.call = momentum, call
            if call is None:
                del layer.call    # the class has one
