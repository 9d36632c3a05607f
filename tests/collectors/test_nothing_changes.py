"""What training comes to is the same with the collector and without, bit for bit, with every part on."""

from __future__ import annotations

import random

import numpy as np
import pytest

from summarykit import ops
from summarykit.collectors import PARTS, SummaryCollector
from summarykit.training import Loop

STEPS = 12


def everything(path, **arguments):
    """A collector that leaves nothing out."""
    parts = [PARTS.get(name) for name in PARTS]
    asked = {part.key: True for part in parts if part.key and isinstance(part.default, bool)}
    asked |= {"histogram_regular": "", "collect_activations": "", "collect_landscape": {"intervals": [[2, 3, 4], [6, 8, 10]]}}
    assert set(asked) == {part.key for part in parts if part.key}
    return SummaryCollector(path, 2, collect_tensor_freq=1, collect_specified_data=asked, **arguments)


def numpy_run(callbacks):
    generator = np.random.default_rng(0)
    net = {"weight": generator.normal(size=(4, 3)), "bias": np.zeros(3), "half": np.ones(3, np.float16)}
    data = [(generator.normal(size=(8, 1, 2, 2)), generator.normal(size=(8, 3))) for _ in range(STEPS)]
    network = type("Network", (), {"parameters": net, "gradients": {}})()
    with Loop(network, {"lr": 0.1, "momentum": 0.9}, data, 2, callbacks) as loop:
        for _ in loop.epochs():
            for images, targets in loop.steps():
                error = images.reshape(8, 4) @ net["weight"] + net["bias"] - targets
                network.gradients = {"weight": images.reshape(8, 4).T @ error / 8, "bias": error.mean(0), "half": net["half"] / 7}
                for name, gradient in network.gradients.items():
                    net[name] -= (0.1 * gradient).astype(net[name].dtype)    # in place, while what was recorded is still on its way
                loop.report(loss=np.square(error).mean(), error=error, noise=np.random.normal() + random.random(), note="x")
            with loop.evaluation(data[:2]):
                list(loop.steps())
                loop.report(loss=np.random.normal())
    return {name: value.tobytes() for name, value in net.items()} | {"random": np.random.normal(), "python": random.random()}


def torch_run(callbacks, accumulation=1):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(inplace=True), torch.nn.Flatten(), torch.nn.Dropout(),
        torch.nn.Linear(144, 3),
    )  # fmt: skip
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(STEPS * 4, 1, 8, 8)), 4, shuffle=True)
    with Loop(net, optimizer, data, 2, callbacks, accumulation=accumulation) as loop:
        for _ in loop.epochs():
            for (images,) in loop.steps():
                loss = ops.scalar("mean", net(images).square().mean())
                loss.backward()
                loop.report(loss=loss, output=loss.detach().repeat(3))
                if loop.update_due:
                    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=False)
            with loop.evaluation(), torch.no_grad():
                net.eval()
                loop.report(loss=net(images).mean())
                net.train()
    return {name: value.numpy().tobytes() for name, value in net.state_dict().items()} | {"random": torch.randn(()).item()}


def same_with_and_without(run, directory):
    outcomes = []
    for callbacks in ([], [everything(directory.path)]):
        np.random.seed(3)
        random.seed(4)
        outcomes.append(run(callbacks))
    assert outcomes[0] == outcomes[1]
    assert callbacks[0].stats()["dropped"] == {}


def test_of_numpy(directory):
    same_with_and_without(numpy_run, directory)
    assert len(directory.steps()["loss"]) == 13


@pytest.mark.parametrize("accumulation", [1, 3])
def test_of_torch(directory, accumulation):
    same_with_and_without(lambda callbacks: torch_run(callbacks, accumulation), directory)
    updates = 2 * STEPS // accumulation
    for tag in ("loss", "0.weight/auto", "5.weight/gradient", "gradient_norm", "2/activation", "5.bias/update_ratio", "mean"):
        assert directory.steps()[tag] == [1, *range(2, updates + 1, 2)], tag
