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
        """Set the statistics to their means over the batches, by samples; ``run`` sends these through the model in evaluation mode."""
        before = 0
        with _training(self._layers):
            for batch in batches:
                size = samples.size_of(batch)
                for layer in self._layers:
                    layer.momentum = before / (before + size)    # the share of what was known
                before += size
                run(batch)


@contextmanager
def _training(layers: Sequence[Any]) -> Iterator[None]:
    """Let these layers, and no others, behave as in training."""
    kept = [(layer, layer.momentum) for layer in layers]
    for layer in layers:
        layer.call = _always(layer.call)
    try:
        yield
    finally:
        for layer, momentum in kept:
            del layer.call    # the class has one
            layer.momentum = momentum


def _always(call: Callable[..., Any]) -> Callable[..., Any]:
    def in_training(inputs: Any, training: Any = None, mask: Any = None) -> Any:
        return call(inputs, training=True, mask=mask)

    return in_training
