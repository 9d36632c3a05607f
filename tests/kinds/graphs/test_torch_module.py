"""Models of PyTorch: traced, exported, or as a tree; never changed."""

from __future__ import annotations

import logging

import pytest

from summarykit import Loop, Run, SummaryCollector
from summarykit.kinds.graph import GRAPH
from summarykit.kinds.graphs import torch_module
from summarykit.notices import Notices
from summarykit.shapes import Node

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def notices(monkeypatch, caplog):
    monkeypatch.setattr(torch_module, "NOTICES", Notices())
    with caplog.at_level(logging.WARNING, logger="summarykit"):
        yield caplog


def told(notices):
    """Our warnings; torch logs, too."""
    return [record.getMessage() for record in notices.records if record.name == "summarykit"]


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.drop = torch.nn.Dropout()

    def forward(self, x):
        return torch.relu(self.drop(self.norm(self.conv(x)))) + 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.head = torch.nn.Linear(8, 2)
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.head(self.block(x).mean((2, 3))) * self.scale


class Branching(Net):
    def forward(self, x):
        return super().forward(x * 2 if x.shape[0] > 2 else x)


class Unreadable(Net):
    def forward(self, x):
        return super().forward(x) if float(x.sum()) > 0 else x


IMAGES = torch.zeros(4, 3, 8, 8)


def nodes(model, example=None):
    graph = GRAPH.reduce(GRAPH.snapshot(model, example_input=example))
    found = {node.name: node for node in graph.nodes}
    assert len(found) == len(graph.nodes)
    seen: set[str] = set()
    for node in graph.nodes:    # each behind those it takes from
        assert set(node.inputs) <= seen
        seen.add(node.name)
    return found


def test_a_traced_model(notices):
    found = nodes(Net())
    assert {name: node.op for name, node in found.items()} == {
        "x": Node.INPUT,
        "block/conv/weight": Node.PARAMETER, "block/conv/bias": Node.PARAMETER, "block/conv/Conv2d": "Conv2d",
        "block/norm/weight": Node.PARAMETER, "block/norm/bias": Node.PARAMETER, "block/norm/BatchNorm2d": "BatchNorm2d",
        "block/drop/Dropout": "Dropout", "block/relu": "relu", "block/add": "add", "mean": "mean",
        "head/weight": Node.PARAMETER, "head/bias": Node.PARAMETER, "head/Linear": "Linear",
        "scale": Node.PARAMETER, "mul": "mul", "output": Node.OUTPUT,
    }  # fmt: skip
    assert found["block/conv/Conv2d"].inputs == ("x", "block/conv/weight", "block/conv/bias")
    assert found["head/Linear"].inputs[0] == "mean"
    assert found["output"].inputs == ("mul",)
    assert "kernel_size=(3, 3)" in found["block/conv/Conv2d"].attributes["settings"]
    assert found["mean"].attributes == {"arguments": ["(2, 3)"]}
    assert (found["head/weight"].outputs[0].dtype, found["head/weight"].outputs[0].shape) == ("float32", (2, 8))
    assert not told(notices)


def test_an_example_brings_the_shapes(notices):
    found = nodes(Net(), IMAGES)
    shapes = {name: node.outputs[0].shape for name, node in found.items() if node.outputs}
    assert (shapes["x"], shapes["block/conv/Conv2d"], shapes["mean"], shapes["output"]) == ((4, 3, 8, 8), (4, 8, 6, 6), (4, 8), (4, 2))
    assert len(shapes) == len(found)
    assert not told(notices)


def test_code_that_depends_on_the_input_is_exported(notices):
    found = nodes(Branching(), IMAGES)
    assert found["block/conv/conv2d"].inputs[1:] == ("block/conv/weight", "block/conv/bias")
    assert found["block/conv/conv2d"].outputs[0].shape == (4, 8, 6, 6)
    assert found["block/norm/running_mean"].op == Node.PARAMETER
    assert found["mul"].inputs == ("x",)
    assert not told(notices)


@pytest.mark.parametrize("example", [None, IMAGES])
def test_what_cannot_be_traced_is_a_tree_with_one_warning(notices, example):
    for _ in range(2):
        found = nodes(Unreadable(), example)
        assert found["block/conv/Conv2d"].inputs == ("block/conv/weight", "block/conv/bias")
        assert "x" not in found
    assert len(told(notices)) == 1
    assert ("example_input" in told(notices)[0]) == (example is None)


def test_an_example_that_does_not_fit_costs_the_shapes(notices):
    found = nodes(Net(), torch.zeros(3))
    assert found["block/conv/Conv2d"].outputs == ()
    assert len(told(notices)) == 1


@pytest.mark.parametrize("example", [None, IMAGES, {"x": IMAGES}], ids=["none", "tensor", "mapping"])
@pytest.mark.parametrize("make", [torch.jit.script, lambda net: torch.jit.trace(net.eval(), IMAGES)], ids=["script", "trace"])
def test_of_torchscript_the_modules_are_shown_with_one_warning(notices, make, example):
    found = nodes(make(Net()), example)
    assert found["block/conv/Conv2d"].inputs == ("block/conv/weight", "block/conv/bias")
    assert len(told(notices)) == 1


@pytest.mark.parametrize("make", [Net, Branching, Unreadable])
def test_the_model_stays_as_it_is(make):
    model = make().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.get_rng_state()
    nodes(model, IMAGES)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(random, torch.get_rng_state())
    assert all(module.training for module in model.modules())
    assert all(value.grad is None for value in model.parameters())


def test_a_module_that_is_called_twice_has_its_parameters_once():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3, bias=False)

        def forward(self, x):
            return self.layer(self.layer(x))

    found = nodes(Twice())
    assert [name for name in found if name.startswith("layer")] == ["layer/weight", "layer/Linear", "layer/Linear_1"]
    assert found["layer/Linear_1"].inputs == ("layer/Linear", "layer/weight")


def test_several_inputs_and_outputs():
    class Pair(torch.nn.Module):
        def forward(self, x, y):
            low, high = torch.split(x + y, 2)
            return {"low": low, "high": high}

    found = nodes(Pair(), (torch.zeros(4), torch.zeros(4)))
    assert [name for name, node in found.items() if node.op == Node.INPUT] == ["x", "y"]
    assert [kind.shape for kind in found["split"].outputs] == [(2,), (2,)]
    assert len(found["output"].inputs) == 2


def test_wrappers_are_taken_off():
    assert "block/conv/Conv2d" in nodes(torch.nn.DataParallel(Net()))


def test_the_wrong_mode_is_not_left_behind():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout()).eval()
    nodes(model, torch.zeros(1, 2))
    assert not model.training


def test_cb11_what_cannot_be_traced_costs_one_warning_and_no_training(notices, tmp_path):
    """CB11: a model that returns a dict, whose input holds None and texts."""

    class Odd(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 2)

        def forward(self, batch):
            x = batch["x"] if batch["mask"] is None and batch["task"].startswith("class") else -batch["x"]
            if float(x.sum()) > 0:
                x = x * 2
            return {"scores": self.fc(x), "task": batch["task"], "rest": None}

    model = Odd()
    batch = {"x": torch.ones(3, 4), "mask": None, "task": "classes"}
    collector = SummaryCollector(tmp_path, collect_specified_data={"collect_graph": True}, keep_default_action=False, collect_freq=1)
    with Loop(model, None, [batch] * 3, 1, [collector]) as loop:
        for each in loop.steps():
            loop.report(loss=model(each)["scores"].sum())
    assert [text for text in told(notices) if "graph" in text or "traced" in text] == told(notices)
    assert len(told(notices)) == 1
    assert [node.op for node in Run(tmp_path).graphs()["graph"].nodes] == [Node.PARAMETER, Node.PARAMETER, "Linear"]


def test_arguments_by_name():
    class Named(torch.nn.Module):
        def forward(self, x, *, mask=None, scale=2.0):
            return x * scale if mask is None else x * mask

    found = nodes(Named(), {"mask": torch.ones(3), "x": torch.zeros(2, 3), "label": torch.zeros(2)})
    assert found["output"].outputs[0].shape == (2, 3)
    assert "label" not in found


def test_arrays_of_numpy_are_examples_too(notices):
    found = nodes(Net(), IMAGES.numpy())
    assert found["output"].outputs[0].shape == (4, 2)
    assert not told(notices)


def test_a_part_that_is_a_graph_of_its_own_is_a_scope():
    """As fusion and partitioning passes leave them: ``submod_0`` may go to another backend."""
    from torch.fx.passes.split_module import split_module

    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    traced = torch.fx.symbolic_trace(model)
    parts = split_module(traced, model, lambda node: int(node.name != "_0"))
    found = nodes(parts, torch.zeros(5, 3))
    assert [name for name, node in found.items() if node.op in ("Linear", "ReLU")] == [
        "submod_0/0/Linear", "submod_1/1/ReLU", "submod_1/2/Linear",
    ]  # fmt: skip
    assert found["submod_1/1/ReLU"].inputs == ("submod_0/0/Linear",)
    assert found["output"].inputs == ("submod_1/2/Linear",)


def test_a_part_with_several_results_is_followed_by_them():
    class Halves(torch.nn.Module):
        def forward(self, x):
            return x + 1, x + 2

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.part = torch.fx.symbolic_trace(Halves())

        def forward(self, x):
            found = self.part(x)
            return found[0] * found[1]

    class Whole(torch.fx.Tracer):
        def is_leaf_module(self, module, path):
            return True

    outer = Outer()
    found = nodes(torch.fx.GraphModule(outer, Whole().trace(outer)))
    assert found["part/outputs"].inputs == ("part/add", "part/add_1")


def test_what_another_backend_took_over_has_its_name_as_a_scope():
    """As ExecuTorch leaves it: a call of a lowered module."""

    class Lowered(torch.nn.Module):
        backend_id = "XnnpackBackend"

        def forward(self, x):
            return x

    def call_delegate(module, x):
        return module(x)

    root = torch.nn.Module()
    root.lowered_module_0 = Lowered()
    made = torch.fx.Graph()
    x = made.placeholder("x")
    made.output(made.call_function(call_delegate, (made.get_attr("lowered_module_0"), x)))
    found = nodes(torch.fx.GraphModule(root, made))
    assert list(found) == ["x", "XnnpackBackend/call_delegate", "output"]
    assert found["XnnpackBackend/call_delegate"].inputs == ("x",)
    assert found["XnnpackBackend/call_delegate"].attributes == {"calls": ["lowered_module_0"]}


def test_what_is_called_under_conditions_and_without_gradients():
    class Conditional(torch.nn.Module):
        def forward(self, x):
            with torch.no_grad():
                y = torch.sin(x)
            return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (torch.relu(x) + y,))

    found = nodes(Conditional(), torch.ones(3))
    assert found["cond"].inputs[-1] == "add"
    assert len(found["cond"].attributes["calls"]) == 2
    (sin,) = (node for node in found.values() if node.op == "sin")
    assert sin.inputs == ("x",)
    assert sin.name in found["add"].inputs


def test_what_lies_on_another_device_has_that_as_a_scope():
    class Split(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.here = torch.nn.Linear(8, 8)
            self.there = torch.nn.Linear(8, 2, device="meta")

        def forward(self, x):
            return self.there(self.here(x).to("meta"))

    found = nodes(Split(), torch.zeros(3, 8))
    assert "here/Linear" in found
    assert {name for name in found if name.startswith("meta/")} >= {"meta/there/Linear", "meta/to"}


def test_what_torch_compile_caught_has_the_names_of_the_model(notices):
    caught = []
    model = Net().eval()
    torch.compile(model, backend=lambda graph, example: caught.append(graph) or graph.forward, fullgraph=True)(IMAGES)
    found = nodes(caught[0])
    assert {name for name, node in found.items() if node.op == Node.PARAMETER} == {
        *(name.replace(".", "/") for name, _ in model.named_parameters()), "block/norm/running_mean", "block/norm/running_var",
    }  # fmt: skip
    assert [name for name, node in found.items() if node.op == Node.INPUT] == ["x"]
    assert found["block/conv/conv2d"].outputs[0].shape == (4, 8, 6, 6)
    assert not told(notices)


def test_a_module_that_cannot_be_called_is_what_it_holds(caplog):
    """As Lightning's, which train by their ``training_step``."""
    held = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    alone, several = torch.nn.Module(), torch.nn.Module()
    alone.net = held
    several.net, several.metric = held, torch.nn.Identity()
    assert GRAPH.snapshot(alone).graph.nodes == GRAPH.snapshot(held).graph.nodes
    assert {node.name for node in GRAPH.snapshot(several).graph.nodes} >= {"net/0/Linear", "net/1/ReLU"}
    assert not caplog.messages


class Counts(torch.nn.Module):
    """Counts its calls, holds a part of itself twice, and keeps a buffer that it replaces."""

    def __init__(self):
        super().__init__()
        self.first = self.again = torch.nn.Linear(3, 3)
        self.nothing = torch.nn.ModuleList()
        self.none = None
        self.calls = 0
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        self.calls += 1
        self.seen = self.again(self.first(x))
        return self.seen


def test_a_model_that_counts_its_calls_is_not_called():
    model = torch.nn.Sequential(Counts(), Counts())
    seen = [each.seen for each in model]
    graph = torch_module.TORCH.graph(model, torch.zeros(2, 3))
    assert [node.op for node in graph.nodes].count("Linear") == 4
    assert [each.calls for each in model] == [0, 0]
    assert all(each.seen is before for each, before in zip(model, seen, strict=True))


class Listed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)
        self.parts = [self.first]

    def forward(self, x):
        return self.parts[0](x)


def test_a_model_that_knows_its_modules_in_another_way_too_is_read():
    assert "Linear" in [node.op for node in torch_module.TORCH.graph(Listed(), None).nodes]
