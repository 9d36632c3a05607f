"""The demonstration's training: real, quick, and not changed by being recorded."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import numpy as np
import pytest

from summarykit.collectors import SummaryCollector
from summarykit.errors import MissingExtraError

pytest.importorskip("sklearn")
from summarykit.cli import demo
from summarykit.cli.demo_digits import Digits, NumpyNetwork, TorchNetwork, train

NETWORKS = [NumpyNetwork, TorchNetwork]
MB = 1_000_000


def make(kind):
    if kind is TorchNetwork:
        pytest.importorskip("torch")
    return kind()


def weights(net):
    if isinstance(net, NumpyNetwork):
        return {name: value.tobytes() for name, value in net.parameters.items()}
    return {name: value.numpy().tobytes() for name, value in net.model.state_dict().items()}


@pytest.mark.parametrize("kind", NETWORKS)
def test_recording_changes_nothing(directory, kind):
    nets = [make(kind), make(kind)]
    train(nets[0], Digits(), epochs=2)
    collector = SummaryCollector(directory.path, 1, collect_tensor_freq=1, collect_specified_data={"histogram_regular": ".*"})
    train(nets[1], Digits(), [collector], epochs=2)
    assert weights(nets[0]) == weights(nets[1])
    assert set(directory.steps()["loss"]) == set(range(1, 45))


@pytest.mark.parametrize("kind", NETWORKS)
def test_it_learns_and_all_kinds_are_recorded(directory, kind):
    net, digits = make(kind), Digits()
    loop = train(net, digits, [SummaryCollector(directory.path)])
    assert directory.values("eval/accuracy")[-1] > 0.9
    assert directory.values("loss")[-1] < directory.values("loss")[0] / 5
    found = {tag for tag in directory.tags("scalar") if not tag.startswith(("system/", "throughput/", "optimizer/"))}
    assert found == {"loss", "accuracy", "learning_rate", "gradient_norm", "eval/accuracy"}
    names = ["hidden.weight", "hidden.bias", "output.weight", "output.bias"]
    assert directory.tags("histogram") == {f"{name}/{what}" for name in names for what in ("auto", "gradient")}
    assert directory.tags("image") == {"input_data/auto"}
    assert directory.tags("tensor") == {"scores"}
    assert all(len(set(steps)) == len(steps) for steps in directory.steps().values())
    assert directory.steps()["loss"][-1] == loop.step == 440
    assert sum(file.stat().st_size for file in directory.path.iterdir()) < 20 * MB


def test_the_numpy_gradients_are_right():
    net, digits = NumpyNetwork(), Digits()
    images, labels = next(iter(digits.training))

    def loss():
        copy = NumpyNetwork()
        copy.parameters = {name: value.copy() for name, value in net.parameters.items()}
        return copy.update(images, labels)[0]

    gradients = NumpyNetwork()
    gradients.update(images, labels)
    for name, value in net.parameters.items():
        place = tuple(size // 2 for size in value.shape)
        value[place] += 1e-5
        above = loss()
        value[place] -= 2e-5
        below = loss()
        value[place] += 1e-5
        np.testing.assert_allclose((above - below) / 2e-5, gradients.gradients[name][place], rtol=1e-3, atol=1e-7)


def test_the_example_runs(directory, checkout, no_leftovers):
    command = [sys.executable, str(checkout / "examples" / "digits.py"), str(directory.path)]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for line in ("of the test images recognised", "scalar     loss", "tensor     scores", "tensorboard --logdir", "mindinsight start"):
        assert line in done.stdout


def test_the_demonstration_tells_what_it_did(directory, capsys):
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    assert parser.parse_args([]).directory == "./summary"
    assert demo.run(parser.parse_args([str(directory.path), "--epochs", "2"])) == 0
    told = capsys.readouterr().out
    points = {line.split()[1]: line.split()[2] for line in told.splitlines() if line.startswith("  ") and "…" in line}
    recorded = directory.steps()
    assert {tag: points[tag] for tag in recorded} == {tag: str(len(steps)) for tag, steps in recorded.items()}
    assert all(file.name in told for file in directory.path.iterdir())


def test_without_scikit_learn_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "sklearn.datasets", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'summarykit\[demo\]'"):
        Digits()
