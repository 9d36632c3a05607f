"""A hand-written training loop, recorded: handwritten digits, and a callback of one's own that ends the training in time.

    python examples/digits.py [DIRECTORY]

The network (``summarykit demo`` trains the same) is PyTorch's where that is installed, else a few lines of NumPy.
"""

from __future__ import annotations

import sys

import numpy as np

from summarykit import Callback, Loop, RunContext, SummaryCollector
from summarykit.cli.demo import tell
from summarykit.cli.demo_digits import Digits, network


class StopWhenGood(Callback):
    """Ends the training once 95 % of the test images are recognised."""

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Look at what the evaluation in this epoch reported."""
        if run_context.original_args().metrics["accuracy"] >= 0.95:
            run_context.request_stop()


def main(directory: str) -> None:
    """Train and record."""
    digits, net = Digits(), network()
    callbacks = [SummaryCollector(directory, collect_freq=10, collect_tensor_freq=20), StopWhenGood()]
    with Loop(net.model, net.optimizer, digits.training, epochs=100, callbacks=callbacks) as loop:
        for epoch in loop.epochs():
            for images, labels in loop.steps():
                loss, scores = net.update(images, labels)
                loop.report(loss=loss, accuracy=np.mean(scores.argmax(1) == labels), scores=scores)
            with loop.evaluation():
                images, labels = digits.test
                accuracy = np.mean(net.scores(images).argmax(1) == labels)
                loop.report(accuracy=accuracy)
            print(f"epoch {epoch}: {accuracy:.1%} of the test images recognised")
    tell(directory)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
