"""The parts that collect the graph of the network and the stages of the data pipeline."""

from __future__ import annotations

import logging
import uuid

import numpy as np
import pytest

from summarykit import Loop, Run, SummaryCollector
from summarykit.collectors.graph import example_of
from summarykit.kinds.graphs import torch_module
from summarykit.notices import Notices
from summarykit.shapes import Lineage

torch = pytest.importorskip("torch")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.drop = torch.nn.Dropout()
        self.head = torch.nn.Linear(4, 2)

    def forward(self, images):
        return self.head(self.drop(torch.relu(self.norm(self.conv(images)))).mean((2, 3)))


class Branching(Net):
    def forward(self, images):
        return super().forward(images * 2 if images.shape[0] > 2 else images)


class Unreadable(Net):
    def forward(self, images):
        return super().forward(images if float(images.sum()) > 0 else -images)


class Stochastic(Net):
    """Draws numbers that no input shapes, and counts in a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, images):
        self.calls += 1
        return super().forward(images + torch.randn(()) * self.calls)


@pytest.fixture
def told(monkeypatch, caplog):
    monkeypatch.setattr(torch_module, "NOTICES", Notices())
    with caplog.at_level(logging.WARNING, logger="summarykit"):
        yield lambda: [record.getMessage() for record in caplog.records if record.name == "summarykit"]


def train(kind, directory=None, **specified):
    """Train with dropout and batch normalisation; gives the final state and random numbers drawn after it."""
    torch.manual_seed(3)
    model = kind()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    batches = [(torch.rand(4, 1, 6, 6), torch.tensor([0, 1, 0, 1])) for _ in range(6)]
    asked = {"collect_graph": True, "collect_dataset_graph": True, **specified}
    collectors = [SummaryCollector(directory, collect_freq=2, keep_default_action=False, collect_specified_data=asked)] if directory else []
    with Loop(model, optimizer, batches, 1, collectors) as loop:
        for images, labels in loop.steps():
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loop.report(loss=loss)
    return {**model.state_dict(), "random": torch.rand(3)}


@pytest.mark.parametrize("kind", [Net, Branching, Unreadable, Stochastic])
def test_the_training_is_the_same_bit_for_bit(tmp_path, kind):
    with_it, without = train(kind, tmp_path), train(kind)
    assert all(torch.equal(with_it[name], without[name]) for name in without)


def test_the_graph_is_there_once_with_shapes(tmp_path, told):
    train(Net, tmp_path)
    (graph,) = Run(tmp_path).graph()
    found = {node.name: node for node in graph.nodes}
    assert found["conv/Conv2d"].outputs[0].shape == (4, 4, 4, 4)
    assert found["output"].outputs[0].shape == (4, 2)
    assert graph.name == "Net"
    assert Run(tmp_path).points("graph", "graph").step.tolist() == [1]
    assert told() == []


def test_it_can_be_left_out(tmp_path):
    train(Net, tmp_path, collect_graph=False, collect_dataset_graph=False)
    assert not {"graph", "lineage"} & set(Run(tmp_path).tags())


def test_a_batch_that_is_no_input_costs_the_shapes_alone(tmp_path, told):
    class Flat(Net):
        def forward(self, images):
            return super().forward(images.reshape(-1, 1, 6, 6))

    model = Flat()
    collector = SummaryCollector(tmp_path, keep_default_action=False, collect_specified_data={"collect_graph": True})
    with Loop(model, None, [{"pixels": "a.png"}], 1, [collector]) as loop:
        for _ in loop.steps():
            loop.report(loss=0.5)
    (graph,) = Run(tmp_path).graph()
    assert next(node for node in graph.nodes if node.op == "Conv2d").outputs == ()
    assert told() == []


@pytest.mark.parametrize("network", [{"w": np.zeros(3)}, object(), None])
def test_a_network_that_nobody_reads_is_no_matter(tmp_path, network, told):
    collector = SummaryCollector(tmp_path, keep_default_action=False, collect_specified_data={"collect_graph": True})
    with Loop(network, None, [1, 2], 1, [collector]) as loop:
        for _ in loop.steps():
            loop.report(loss=0.5)
    assert "graph" not in Run(tmp_path).tags()
    assert collector.stats()["dropped"] == {}
    assert told() == []


def test_of_a_batch_as_much_is_taken_as_forward_needs():
    class Pair(torch.nn.Module):
        def forward(self, x, y, scale=1.0):
            return x + y * scale

    assert example_of(Pair(), (1, 2, 3)) == (1, 2)
    assert example_of(Net(), [1, 2]) == (1,)
    assert example_of(Net(), {"images": 1}) == {"images": 1}
    assert example_of(Net(), None) is example_of(object(), (1, 2)) is None


def test_of_what_does_not_say_what_it_takes_there_is_no_example():
    class Relu(torch.nn.Module):
        forward = staticmethod(torch.relu)

    assert example_of(Relu(), (1, 2)) is None


def test_the_pipeline_is_in_the_lineage(tmp_path):
    data = torch.utils.data
    loader = data.DataLoader(data.TensorDataset(torch.rand(8, 3)), batch_size=4, shuffle=True)
    collector = SummaryCollector(tmp_path, keep_default_action=False, collect_specified_data={"collect_dataset_graph": True})
    with Loop(None, None, loader, 1, [collector]) as loop:
        assert len(list(loop.steps())) == 2
    (point,) = Run(tmp_path).points("lineage", Lineage.DATASET)
    assert point.value.values["sampler"]["sampler_type"] == "RandomSampler"
    assert [child["op_type"] for child in point.value.values["children"]] == ["TensorDataset"]


def test_li1_no_secret_of_the_data_is_told(tmp_path):
    class Remote(list):
        def __init__(self):
            super().__init__(range(4))
            self.root, self.API_KEY, self.mirror = f"s3://id:{hidden}@bucket/digits", hidden, f"https://me:{hidden}@host/x"

    hidden = uuid.uuid4().hex    # what a repository holds is told, as its difference
    with Loop(train_dataset=Remote(), callbacks=SummaryCollector(tmp_path)) as loop:
        assert len(list(loop.steps())) == 4
    lineage = Run(tmp_path).lineage()
    assert {name: lineage.dataset_graph[name] for name in ("root", "API_KEY", "mirror")} == {
        "root": "s3://***@bucket/digits", "API_KEY": "***", "mirror": "https://***@host/x",
    }  # fmt: skip
    assert lineage.train_dataset["path"] == "s3://***@bucket/digits"
    assert not any(hidden.encode() in file.read_bytes() for file in tmp_path.iterdir())
