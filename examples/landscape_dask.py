"""A landscape computed on a cluster of dask; here a cluster of two processes on this machine.

    python examples/landscape_dask.py [DIRECTORY] [POINTS]

With a cluster that there is: ``Client("scheduler:8786")``. Its workers must see DIRECTORY, and be able to import what ``callback_fn``
needs.
Any other executor with the interface of ``concurrent.futures`` will do as well, such as the one of landscape_ray.py.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
from distributed import Client, LocalCluster

from summarykit import LandscapeCollector, Loop, SummaryLandscape

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(256, 3))
TARGET = np.sin(INPUTS @ [1.0, -2.0, 0.5])


def loss(network: Mapping[str, np.ndarray], batch: tuple[np.ndarray, np.ndarray]) -> float:
    """Mean squared error of a network with one hidden layer."""
    inputs, target = batch
    return float(np.mean((np.tanh(inputs @ network["hidden"]) @ network["out"] - target) ** 2))


def train(directory: str, points: int) -> dict[str, np.ndarray]:
    """Go down by differences of the loss; the weights of each 10th step are stored."""
    network = {"hidden": RANDOM.normal(size=(3, 8)), "out": np.zeros(8)}
    collector = LandscapeCollector(directory, [[10, 20, 30, 40]], landscape_size=points, num_samples=256)
    with Loop(network, None, range(40), 1, collector) as training:
        for _ in training.steps():
            before, gradients = loss(network, (INPUTS, TARGET)), {}
            for name, value in network.items():
                gradients[name] = np.zeros_like(value)
                for place in np.ndindex(value.shape):
                    value[place] += 1e-5
                    gradients[name][place] = (loss(network, (INPUTS, TARGET)) - before) / 1e-5
                    value[place] -= 1e-5
            for name, gradient in gradients.items():
                network[name] -= 0.3 * gradient
    return network


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "./summary"
    trained = train(where, int(sys.argv[2]) if len(sys.argv) > 2 else 9)
    measure, data = loss, [(INPUTS, TARGET)]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        found = SummaryLandscape(where).gen_landscapes_with_multi_process(
            lambda: (None, {name: value.copy() for name, value in trained.items()}, data, {"Loss": measure}), executor=client.get_executor()
        )
    for surface in found:
        print(surface, f"lowest loss {surface.z.min():.4f}")
