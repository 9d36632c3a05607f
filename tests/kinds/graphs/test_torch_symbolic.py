"""While a model is traced other threads call modules, the model's own among them."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")

from summarykit.kinds.graphs.torch_symbolic import traced  # noqa: E402


class Asking(torch.nn.Module):
    """Has another thread call something before it calls its own layer."""

    def __init__(self, ask):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
        self.ask = ask

    def forward(self, x):
        with ThreadPoolExecutor(1) as pool:
            self.answer = pool.submit(self.ask, self).result()
        return self.layer(x)


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()), torch.nn.Flatten())(torch.ones(2, 4)),
        lambda model: model.layer(torch.ones(2, 4)),
        lambda model: model.layer.weight,
    ],
    ids=["another model", "the same", "a parameter"],
)
def test_another_thread_gets_values_and_leaves_no_trace(ask):
    model = Asking(ask)
    graph = traced(model)
    assert isinstance(model.answer, torch.Tensor)
    assert [node.op for node in graph.graph.nodes] == ["placeholder", "call_module", "output"]


AT_ONCE = """
import time, torch
from concurrent.futures import ThreadPoolExecutor
from summarykit.kinds.graphs.torch_module import TORCH

class Slow(torch.nn.Module):
    def __init__(self, seconds):
        super().__init__()
        self.layer, self.seconds = torch.nn.Linear(4, 2), seconds

    def forward(self, x):
        time.sleep(self.seconds)
        return self.layer(x)

before = torch.nn.Module.__call__, torch.nn.Module.__getattr__
with ThreadPoolExecutor(2) as pool:
    first = pool.submit(TORCH.graph, Slow(0.4), None)
    time.sleep(0.2)
    second = pool.submit(TORCH.graph, Slow(0.6), None)
assert (torch.nn.Module.__call__, torch.nn.Module.__getattr__) == before
print(*(node.op for each in (first, second) for node in each.result().nodes))
"""


def test_of_two_threads_that_trace_at_once_each_gets_a_graph_and_calls_are_as_before(run_script):
    """Else each would go on in the other's graph, which then never ends."""
    assert run_script(AT_ONCE, timeout=100).expect_success().stdout.split() == 2 * ["Input", "Parameter", "Parameter", "Linear", "Output"]


FORKED = """
import os, sys, threading, time, torch
from summarykit.kinds.graphs.torch_module import TORCH

class Slow(torch.nn.Module):
    def forward(self, x):
        begun.set()
        time.sleep(2)
        return torch.relu(x)

begun = threading.Event()
tracing = threading.Thread(target=TORCH.graph, args=(Slow(), torch.ones(1)))
tracing.start()
begun.wait()
child = os.fork()
if child == 0:
    graph = TORCH.graph(torch.nn.Sequential(torch.nn.ReLU()), torch.ones(1))
    print("nodes", sum(node.op == "ReLU" for node in graph.nodes), flush=True)
    os._exit(0)
tracing.join()
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")
def test_a_child_does_not_wait_for_a_thread_of_its_parents_that_traces(run_script):
    assert "nodes 1" in run_script(FORKED, timeout=120).stdout


def test_it_gives_what_pytorch_itself_does():
    model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Dropout()))
    ours, theirs = traced(model), torch.fx.symbolic_trace(model)
    assert str(ours.graph) == str(theirs.graph)
    assert type(ours).__name__ == type(theirs).__name__
    assert ours.get_submodule("0") is model[0]
