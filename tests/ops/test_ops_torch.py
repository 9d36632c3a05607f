"""Operators in models of PyTorch: eager, compiled, traced, exported."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from summarykit import Loop, Run, SummaryCollector, ops
from summarykit.ops import Gathering, routes, torch_compiled

torch = pytest.importorskip("torch")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)

    def forward(self, x):
        hidden = ops.histogram("hidden", torch.relu(self.first(x)))
        ops.scalar("mean", hidden.mean())
        ops.scalar("constant", 3.0)
        return self.second(hidden).mean()


class Plain(Net):
    def forward(self, x):
        return self.second(torch.relu(self.first(x))).mean()


@pytest.fixture(autouse=True)
def anew():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


@pytest.fixture
def gathering():
    found = Gathering()
    yield found
    found.close()


INPUT = torch.arange(8.0).reshape(2, 4)


def train(model, net, directory=None, steps=12):
    """Train a few steps; gives the means of the hidden values, as the model itself has them, and the weights."""
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    callbacks = [SummaryCollector(directory, collect_freq=5, keep_default_action=False)] if directory else []
    means = []
    with Loop(net, optimizer, range(steps), 1, callbacks) as loop:
        for _ in loop.steps():
            with torch.no_grad():
                means.append(float(torch.relu(net.first(INPUT)).mean()))
            optimizer.zero_grad()
            model(INPUT).backward()
            optimizer.step()
    return means, [value.detach().clone() for value in net.parameters()]


def test_a_graph_does_not_depend_on_what_other_threads_import(monkeypatch):
    """To look into ``sys.modules`` while a model is compiled makes a constant of all that is in it, and fails where that changes."""
    routes.prepare()
    monkeypatch.delattr(torch_compiled, "sys")
    torch.compile(Net(), backend="eager", fullgraph=True)(INPUT)


@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"])
def test_what_is_recorded_is_what_flowed(tmp_path, backend):
    net = Net()
    model = torch.compile(net, backend=backend, fullgraph=True) if backend else net
    means, _ = train(model, net, tmp_path)
    run = Run(tmp_path)
    assert run.scalars("mean").step.tolist() == [1, 5, 10, 12]
    np.testing.assert_allclose(run.scalars("mean").value, [means[step - 1] for step in (1, 5, 10, 12)], rtol=1e-6)
    assert run.scalars("constant").value.tolist() == [3.0] * 4
    assert [each.value.count for each in run.histograms("hidden")] == [8] * 4


@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"])
def test_the_training_is_the_same_bit_for_bit(tmp_path, backend):
    ends = []
    for kind, directory in ((Net, tmp_path), (Plain, None)):
        torch._dynamo.reset()
        torch.manual_seed(1)
        net = kind()
        ends.append(train(torch.compile(net, backend=backend) if backend else net, net, directory)[1])
    assert all(torch.equal(one, other) for one, other in zip(*ends, strict=True))


def test_no_graph_breaks_and_nothing_is_compiled_anew_when_collecting_begins(gathering):
    model = torch.compile(Net(), backend="eager", fullgraph=True)
    for _ in range(3):
        model(INPUT)
        gathering.open()
        model(INPUT)
        assert {each.tag for each in gathering.close()} == {"hidden", "mean", "constant"}
    assert not torch._dynamo.utils.counters["graph_break"]
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_a_value_is_detached(gathering):
    gathering.open()
    value = torch.ones(2, requires_grad=True)
    ops.tensor("x", value * 2)
    (given,) = gathering.close()
    assert not given.value.requires_grad


def twofold(x):
    ops.scalar("sum", x.sum())
    return ops.tensor("x", x * 2)


FUNCTIONS = {
    "vmap": (torch.vmap(twofold), INPUT[1]),
    "another axis": (torch.vmap(twofold, in_dims=1), INPUT[:, 3]),
    "nested": (torch.vmap(torch.vmap(twofold), in_dims=1), INPUT[1, 3]),
    "grad in vmap": (torch.vmap(torch.func.grad(lambda x: twofold(x).sum())), INPUT[1]),
    "vmap in grad": (torch.func.grad(lambda x: torch.vmap(twofold)(x).sum()), INPUT[1]),
    "jvp": (lambda x: torch.func.jvp(twofold, (x,), (x,)), INPUT),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_what_functions_transform_the_last_value_is_there(gathering, name, compiled):
    function, last = FUNCTIONS[name]
    gathering.open()
    result = (torch.compile(function, backend="aot_eager") if compiled else function)(INPUT)
    found = {each.tag: each.value for each in gathering.close()}
    assert torch.equal(found["x"], last * 2)
    assert found["sum"].item() == last.sum()
    assert torch.equal(torch.as_tensor(result[0]), torch.as_tensor(function(INPUT)[0]))


def test_a_traced_or_exported_model_has_no_operators(gathering):
    gathering.open()
    calls = [torch.fx.symbolic_trace(Net()).graph, torch.export.export(Net(), (INPUT,)).graph]
    calls.append(torch.export.export(Net(), (INPUT,), strict=True).graph)
    for graph in calls:
        assert not [node for node in graph.nodes if "summarykit" in str(node.target)]
    assert [each for each in gathering.close() if hasattr(each.value, "shape")] == []


IMPORTED_FIRST = """
import sys
from summarykit import ops
assert "torch" not in sys.modules
import torch

def model(x):
    ops.scalar("constant", 3.0)
    return ops.tensor("x", x * 2)

compiled = torch.compile(model, backend="eager", fullgraph=True)
compiled(torch.ones(2))
gathering = ops.Gathering()
gathering.open()
compiled(torch.ones(2))
print(*sorted(f"{each.tag} {each.value.tolist()}" for each in gathering.close()), torch._dynamo.utils.counters["stats"]["unique_graphs"])
"""


def test_operators_imported_before_pytorch_are_compiled_as_those_imported_after_it(run_script):
    assert run_script(IMPORTED_FIRST).expect_success().stdout == "constant 3.0 x [2.0, 2.0] 1\n"


def test_the_random_state_stays(gathering):
    gathering.open()
    before = torch.get_rng_state()
    Net()
    torch.set_rng_state(before)
    ops.histogram("x", torch.ones(3))
    ops.tensor("y", torch.ones(3))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(("missing", "said"), [("is_exporting", "no attribute 'is_exporting'"), ("is_dynamo_compiling", "")])
def test_a_torch_that_does_not_tell_yet_what_it_does_is_imported_as_ever(monkeypatch, caplog, missing, said):
    """PyTorch before 2.7, and before 2.2."""
    monkeypatch.setattr(torch_compiled, "library", torch_compiled.library.__wrapped__)
    monkeypatch.setattr(routes, "compiling", routes._never)
    monkeypatch.setattr(routes, "_in_graph", routes._ignored)
    monkeypatch.delattr(torch.compiler, missing)
    monkeypatch.delitem(sys.modules, "torch._dynamo")
    assert importlib.util.find_spec("torch._dynamo") is not None
    assert said in caplog.text
    assert routes._in_graph is routes._ignored


def test_with_a_torch_that_cannot_do_it_nothing_is_recorded_and_nothing_breaks(gathering, monkeypatch, caplog):
    def missing():
        raise AttributeError("no effects")

    monkeypatch.setattr(torch_compiled, "library", missing)
    monkeypatch.setattr(routes, "compiling", routes._never)
    monkeypatch.setattr(routes, "_in_graph", routes._ignored)
    routes.prepare()
    assert "not recorded with torch" in caplog.text
    gathering.open()
    torch.compile(Net(), backend="eager", fullgraph=True)(INPUT)
    assert gathering.close() == []
    ops.scalar("eager", 1)
