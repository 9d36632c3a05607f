"""Models that change themselves, draw random numbers or are listened to: tracing leaves no trace."""

from __future__ import annotations

import importlib
import random

import numpy as np
import pytest

from summarykit.kinds.graphs import torch_kept, torch_module
from summarykit.kinds.graphs.torch_kept import kept
from summarykit.notices import Notices

torch = pytest.importorskip("torch")


class Changing(torch.nn.Module):
    """Counts, keeps and draws, wherever it can, each time that it is called."""

    def __init__(self, reads=lambda x: None):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(()))
        self.calls, self.plain, self.array, self.held, self.state = 0, torch.zeros(2), np.zeros(2), [], {"all": [torch.zeros(1)]}
        self.reads = reads

    def forward(self, x):
        self.calls += 1
        for each in (self.count, self.plain, self.array, self.state["all"][0]):
            each += 1
        self.last = self.layer(x) * self.count + torch.rand(()) + random.random() + np.random.rand()
        self.held.append(self.last)
        self.state["last"] = self.last
        self.reads(x)
        return self.last

    def seen(self):
        numbers = [self.calls, float(self.count), self.plain.tolist(), self.array.tolist(), self.state["all"][0].tolist()]
        return numbers, len(self.held), list(self.state), list(vars(self)), [name for name, _ in self.named_buffers()]


def drawn():
    return torch.rand(3).tolist(), random.random(), np.random.rand()


TRACED = Changing
EXPORTED = lambda: Changing(lambda x: None if x.shape[0] < 9 else 1 / 0)    # noqa: E731
UNREADABLE = lambda: Changing(lambda x: float(x.sum()) > 0)    # noqa: E731


@pytest.mark.parametrize(("make", "op"), [(TRACED, "Linear"), (EXPORTED, "linear"), (UNREADABLE, "Linear")])
def test_the_model_and_all_random_numbers_to_come_are_the_same(make, op):
    ends = []
    for traced in (False, True):
        for seed in (torch.manual_seed, random.seed, np.random.seed):
            seed(0)
        model = make()
        before = {name: id(value) for name, value in vars(model).items()}
        if traced:
            assert op in [node.op for node in torch_module.TORCH.graph(model, torch.ones(2, 3)).nodes]
            assert {name: id(value) for name, value in vars(model).items()} == before
        ends.append((model.seen(), drawn(), model(torch.ones(2, 3)).tolist()))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("make", [TRACED, EXPORTED, UNREADABLE])
def test_hooks_are_not_called_and_stay(make):
    heard = []
    model = torch.nn.Sequential(make(), torch.nn.Linear(3, 3))
    handles = [
        register(lambda *given: heard.append(given))
        for module in model.modules()
        for register in (module.register_forward_pre_hook, module.register_forward_hook, module.register_full_backward_hook)
    ]
    torch_module.TORCH.graph(model, torch.ones(2, 3))
    assert heard == []
    model(torch.ones(2, 3)).sum().backward()
    assert len(heard) == len(handles)
    for handle in handles:
        handle.remove()
    model(torch.ones(2, 3))
    assert len(heard) == len(handles)


def test_hooks_that_make_weights_are_called():
    model = torch.nn.Sequential(EXPORTED(), torch.nn.Linear(3, 3))
    importlib.import_module("torch.nn.utils.prune").l1_unstructured(model[1], "weight", amount=0.5)
    names = [node.name for node in torch_module.TORCH.graph(model, torch.ones(2, 3)).nodes]
    assert {"1/weight_orig", "1/weight_mask", "1/linear"} < set(names)


def test_a_sparse_buffer_is_copied_as_any_other():
    class Sparse(Changing):
        def forward(self, x):
            self.count *= 2
            return torch.sparse.mm(self.count, self.layer(x))

    model = Sparse()
    model.count = torch.eye(3).to_sparse()
    assert "_sparse_mm" in [node.op for node in torch_module.TORCH.graph(model, torch.ones(3, 3)).nodes]
    assert torch.equal(model.count.to_dense(), torch.eye(3))


def test_what_is_shared_is_shared_and_what_holds_itself_is_no_matter():
    model = torch.nn.Sequential(Changing(), Changing())
    model[1].plain = model[0].plain
    model[0].held.append(model[0].held)
    with kept(model):
        assert model[1].plain is model[0].plain
    assert model[0].held[0] is model[0].held


def test_an_exception_in_the_block_leaves_the_model_as_it_was():
    model = Changing()
    with pytest.raises(KeyboardInterrupt), kept(model):
        model.held.append(1)
        model.other = 2
        raise KeyboardInterrupt
    assert model.held == []
    assert not hasattr(model, "other")


def test_of_a_model_with_large_buffers_the_modules_are_shown(monkeypatch, caplog):
    monkeypatch.setattr(torch_module, "NOTICES", Notices())
    monkeypatch.setattr(torch_kept, "LARGEST", 20)
    assert [node.op for node in torch_module.TORCH.graph(Changing(), None).nodes if node.op == "Linear"]
    assert "its buffers are too large to be copied" in caplog.text
