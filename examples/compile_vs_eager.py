"""A training under ``torch.compile``, recorded from inside the model, and its graph beside that of the eager model.

    python examples/compile_vs_eager.py [DIRECTORY [BACKEND]]

Summary operators in ``forward`` are one operation in the compiled graph: they break nothing, and record at the steps that the collector
collects. ``torch.compile`` hands the graph that it caught to its backend; here a backend of our own keeps it and passes it on (to
``"eager"`` by default, which needs no C++ compiler; ``"inductor"`` works in the same way).
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn

from summarykit import Loop, SummaryCollector, SummaryRecord, ops
from summarykit.cli import main as command
from summarykit.cli.demo_digits import Digits


class Network(nn.Module):
    """A layer, a look at what it gives, another layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 32)
        self.second = nn.Linear(32, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Give the scores."""
        hidden = ops.histogram("hidden", torch.relu(self.first(images)))
        ops.scalar("active", (hidden > 0).float().mean())
        return self.second(hidden)


def main(directory: str, backend: str) -> None:
    """Train with the compiled model, and record both graphs."""
    caught: list[torch.fx.GraphModule] = []

    def keeping(graph: torch.fx.GraphModule, examples: list[Tensor]) -> object:
        caught.append(graph)
        return torch._dynamo.lookup_backend(backend)(graph, examples)

    network, digits = Network(), Digits()
    compiled = torch.compile(network, backend=keeping, fullgraph=True)    # fullgraph: a break would be an error
    optimizer = torch.optim.Adam(network.parameters(), 0.003)
    with Loop(compiled, optimizer, digits.training, epochs=2, callbacks=[SummaryCollector(directory)]) as loop:
        for _ in loop.epochs():
            for images, labels in loop.steps():
                given = torch.as_tensor(images, dtype=torch.float32).reshape(len(images), -1)
                loss = nn.functional.cross_entropy(compiled(given), torch.as_tensor(labels))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                loop.report(loss=loss)
    with SummaryRecord(directory) as record:
        record.add_value("graph", "compiled", caught[0], beside=True)
        record.record(loop.step)
    print(f"compiled {len(caught)} times; what torch.compile made of the model:\n")
    command(["show", directory, "--graph-diff", "graph", "compiled"])


if __name__ == "__main__":
    main(*(sys.argv[1:] + ["./summary", "eager"][len(sys.argv) - 1 :]))
