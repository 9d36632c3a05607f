"""A landscape computed on a cluster of Ray; here one of two processes on this machine.

    python examples/landscape_ray.py [DIRECTORY] [POINTS]

With a cluster that there is: ``ray.init("auto")``. Its workers must see DIRECTORY, and be able to import what ``callback_fn`` needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import ray

from summarykit import LandscapeCollector, Loop, SummaryLandscape

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(256, 3))
TARGET = INPUTS @ [1.0, -2.0, 0.5] + 0.3


class RayExecutor(Executor):
    """Ray's tasks, with the interface of ``concurrent.futures``."""

    def __init__(self) -> None:
        """Use the cluster that ``ray.init`` went to."""
        self._task = ray.remote(lambda function, args, kwargs: function(*args, **kwargs))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the next worker that is free."""
        future: Future[Any] = self._task.remote(fn, args, kwargs).future()
        return future


def loss(network: Mapping[str, np.ndarray], batch: tuple[np.ndarray, np.ndarray]) -> float:
    """Mean squared error of a straight line."""
    inputs, target = batch
    return float(np.mean((inputs @ network["slope"] + network["offset"] - target) ** 2))


def train(directory: str, points: int) -> dict[str, np.ndarray]:
    """Go down the gradient; the weights of each 10th step are stored."""
    network = {"slope": np.zeros(3), "offset": np.zeros(1)}
    collector = LandscapeCollector(directory, [[10, 20, 30, 40]], landscape_size=points, num_samples=256)
    with Loop(network, None, range(40), 1, collector) as training:
        for _ in training.steps():
            error = INPUTS @ network["slope"] + network["offset"] - TARGET
            network["slope"] -= 0.05 * INPUTS.T @ error / len(error)
            network["offset"] -= 0.05 * error.mean()
    return network


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "./summary"
    trained = train(where, int(sys.argv[2]) if len(sys.argv) > 2 else 9)
    measure, data = loss, [(INPUTS, TARGET)]
    ray.init(num_cpus=2)
    found = SummaryLandscape(where).gen_landscapes_with_multi_process(
        lambda: (None, {name: value.copy() for name, value in trained.items()}, data, {"Loss": measure}), executor=RayExecutor()
    )
    ray.shutdown()
    for surface in found:
        print(surface, f"lowest loss {surface.z.min():.4f}")
