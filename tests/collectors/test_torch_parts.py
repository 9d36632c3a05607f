"""Parts that look into PyTorch's modules and optimizers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from summarykit.collectors import SummaryCollector
from summarykit.collectors.optimizer import hyper_parameters, states
from summarykit.training import Loop

torch = pytest.importorskip("torch")


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(inplace=True), torch.nn.Linear(8, 2))


def train(collector, net=None, optimizer=None, steps=5, clip=None, report=lambda **found: {}, **loop):
    net = net or network()
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=0.1)
    norms = []
    with Loop(net, optimizer, [torch.ones(3, 4)] * steps, 1, collector, **loop) as running:
        for batch in running.steps():
            loss = net(batch).square().sum()
            optimizer.zero_grad()
            loss.backward()
            before = None if clip is None else torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
            norms.append(math.sqrt(sum(float(p.grad.square().sum()) for p in net.parameters() if p.grad is not None)))
            optimizer.step()
            running.report(report(before=before, loss=loss))
    return net, norms


@pytest.fixture
def collector(directory):
    """A collector of nothing but what is asked for."""

    def make(*asked, freq=1, **specified):
        wanted = {**dict.fromkeys(asked, True), **specified}
        return SummaryCollector(directory.path, freq, collect_specified_data=wanted, keep_default_action=False)

    return make


# --- the norm of the gradients --------------------------------------------------------------------------------------


def test_the_norm_of_all_gradients(directory, collector):
    net = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(4)))    # more than the five whose histograms are recorded
    _, norms = train(collector("collect_gradient_norm"), net)
    assert directory.steps()["gradient_norm"] == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(directory.values("gradient_norm"), norms, rtol=1e-5)


def test_the_norm_is_that_of_the_clipped_gradients(directory, collector):
    train(collector("collect_gradient_norm"), clip=1e-3)
    np.testing.assert_allclose(directory.values("gradient_norm"), 1e-3, rtol=1e-2)


def test_the_norm_that_the_loop_reports_takes_its_place(directory, collector, caplog):
    collected = collector("collect_gradient_norm", "collect_metric")
    train(collected, clip=1e-3, report=lambda before, loss: {"gradient_norm": before})
    assert min(directory.values("gradient_norm")) > 2e-3
    assert directory.steps()["gradient_norm"] == [1, 2, 3, 4, 5]
    assert "twice" not in caplog.text


def test_frozen_parameters_have_no_gradient(directory, collector):
    net = network()
    net[0].requires_grad_(False)
    optimizer = torch.optim.SGD(net[2].parameters(), lr=0.1)
    _, norms = train(collector("collect_gradient_norm"), net, optimizer)
    np.testing.assert_allclose(directory.values("gradient_norm"), norms, rtol=1e-5)


@pytest.mark.parametrize("set_to_none", [True, False])
def test_gradients_that_are_zeroed_right_behind_the_update(directory, collector, set_to_none, caplog):
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    norms = []
    with Loop(net, optimizer, torch.ones(5, 3, 4), 1, collector("collect_gradient", "collect_gradient_norm", freq=2)) as loop:
        for batch in loop.steps():
            net(batch).square().sum().backward()
            norms.append(math.sqrt(sum(float(p.grad.square().sum()) for p in net.parameters())))
            optimizer.step()
            optimizer.zero_grad(set_to_none=set_to_none)
    tags = ["gradient_norm", *(f"{n}.{p}/gradient" for n in (0, 2) for p in ("weight", "bias"))]
    assert directory.steps() == {tag: [1, 2, 4, 5] for tag in tags}
    np.testing.assert_allclose(directory.values("gradient_norm"), [norms[step - 1] for step in (1, 2, 4, 5)], rtol=1e-4)
    assert all(value.min or value.max for value in directory.values("2.bias/gradient"))
    assert not optimizer._optimizer_step_post_hooks
    assert caplog.messages == []


def test_an_update_that_never_comes_leaves_no_hook(directory, collector):
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    kept = collector("collect_gradient", "collect_gradient_norm")
    with pytest.raises(ValueError, match="bad"), Loop(net, optimizer, [1], 1, kept) as loop:
        for _ in loop.steps():
            raise ValueError("bad")
    assert not optimizer._optimizer_step_post_hooks


def test_a_failure_right_behind_the_update_leaves_the_optimizer_alone(collector, monkeypatch, caplog):
    from summarykit.collectors.known import KnownGradients

    monkeypatch.setattr(KnownGradients, "of", lambda known, network: 1 / 0)
    _, norms = train(collector("collect_gradient_norm"))
    assert len(norms) == 5
    assert len([message for message in caplog.messages if "ZeroDivisionError" in message]) == 1


# --- the optimizer --------------------------------------------------------------------------------------------------


def test_the_numbers_that_steer_an_optimizer(directory, collector):
    net = network()
    train(collector("collect_optimizer"), net, torch.optim.AdamW(net.parameters(), lr=0.1, betas=(0.8, 0.9), weight_decay=0.5))
    found = {tag: set(directory.values(tag)) for tag in directory.steps()}
    assert found == {
        "optimizer/betas/0": {np.float32(0.8)}, "optimizer/betas/1": {np.float32(0.9)}, "optimizer/eps": {np.float32(1e-8)},
        "optimizer/weight_decay": {0.5},
    }  # fmt: skip


class Plain:
    def __init__(self, **fields):
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        (None, {}),
        (object(), {}),
        ({"lr": 0.1}, {}),
        ({"lr": 0.1, "rho": 0.9, "name": "sgd", "nesterov": True, "betas": [0.1, 0.2]}, {"rho": 0.9, "betas/0": 0.1, "betas/1": 0.2}),
        (Plain(momentum=0.9, weight_decay=None, learning_rate=3), {"momentum": 0.9}),
        ([Plain(momentum=0.9), Plain(momentum=0.8)], {"0/momentum": 0.9, "1/momentum": 0.8}),
        ({"actor": Plain(momentum=0.9), "critic": {"rho": 1}}, {"actor/momentum": 0.9, "critic/rho": 1}),
        (Plain(param_groups=[{"params": [], "lr": 0.1, "initial_lr": 0.1, "momentum": 0.9}]), {"momentum": 0.9}),
        (Plain(param_groups=[{"momentum": 0.9}, {"momentum": 0.8, "name": "head"}]), {"momentum/0": 0.9, "momentum/head": 0.8}),
    ],
)  # fmt: skip
def test_hyper_parameters_of_all_kinds_of_optimizers(optimizer, expected):
    assert dict(hyper_parameters(optimizer)) == expected


def test_the_state_of_an_optimizer_is_off_by_default(directory):
    net = network()
    train(SummaryCollector(directory.path), net, torch.optim.Adam(net.parameters()))
    assert not [tag for tag in directory.steps() if tag.endswith("_norm") and tag.startswith("optimizer/")]


def test_how_large_the_state_of_an_optimizer_is(directory, collector):
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), amsgrad=True)
    train(collector(collect_optimizer_state=True), net, optimizer, steps=3)
    assert set(directory.steps()) == {f"optimizer/{name}_norm" for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")}
    whole = torch.cat([state["exp_avg"].flatten() for state in optimizer.state.values()])
    assert directory.values("optimizer/exp_avg_norm")[-1] == pytest.approx(float(whole.norm()), rel=1e-5)


def test_an_optimizer_without_state_has_none():
    assert states(torch.optim.SGD(network().parameters(), lr=1)) == states(None) == states(Plain(state=3)) == {}


# --- activations ----------------------------------------------------------------------------------------------------


def test_outputs_of_the_modules_that_a_pattern_matches(directory, collector):
    net, _ = train(collector(freq=2, collect_activations="[01]"))
    assert directory.steps() == {f"{n}/{what}": [1, 2, 4, 5] for n in (0, 1) for what in ("activation", "zeros")}
    assert [value.count for value in directory.values("1/activation")] == [3 * 8] * 4
    assert directory.values("1/activation")[0].min == 0
    assert directory.values("0/activation")[0].min < 0    # as it came, before the next module changed it in place
    assert 0 < directory.values("1/zeros")[0] < 1
    assert directory.values("0/zeros")[0] == 0
    assert not any(module._forward_hooks for module in net.modules())


def test_modules_carry_hooks_within_due_steps_only(collector):
    carried = []

    class Spy(torch.nn.Linear):
        def forward(self, values):
            carried.append(len(self._forward_hooks))
            return super().forward(values)

    train(collector(freq=3, collect_activations=""), torch.nn.Sequential(Spy(4, 2)), steps=7)
    assert carried == [1, 0, 1, 0, 0, 1, 1]


def test_the_first_of_several_passes_counts(directory, collector):
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(4, 4)

        def forward(self, values):
            return self.inner(self.inner(values) * 0)

    net = Twice()
    train(collector(collect_activations="inner"), net, steps=1)
    assert directory.values("inner/activation")[0].max != pytest.approx(net.inner.bias.detach().max().item(), abs=1e-6)


@pytest.mark.parametrize("output", [None, "text", {"a": 1}, (), [3], torch.zeros(0)], ids=lambda output: type(output).__name__)
def test_cb11_a_module_whose_output_is_no_array_harms_nothing(collector, output):
    class Odd(torch.nn.Linear):
        def forward(self, values):
            self.odd(values)
            return super().forward(values)

    net = Odd(4, 2)
    net.odd = torch.nn.Module()
    net.odd.forward = lambda values: output
    train(collector(collect_activations="odd"), net)
    assert not net.odd._forward_hooks


def test_of_outputs_that_vmap_hides_the_last_is_there(directory, collector):
    net = network()
    with Loop(net, None, [torch.rand(3, 4)], 1, collector(collect_activations="2")) as loop:
        outputs = [torch.vmap(net)(batch) for batch in loop.steps()]
    (value,) = directory.values("2/activation")
    assert (value.min, value.max) == (float(outputs[0][-1].min()), float(outputs[0][-1].max()))


def test_torchscript_within_a_network_is_left_out(directory, collector, caplog):
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.jit.script(torch.nn.Linear(4, 4)), torch.nn.Linear(4, 2))
    train(collector(collect_activations="[012]"), net, steps=1)
    assert sorted(directory.steps()) == ["0/activation", "0/zeros", "2/activation", "2/zeros"]
    assert not caplog.messages


def test_a_hook_that_fails_harms_nothing(collector, monkeypatch, caplog):
    from summarykit.collectors.activation import Activation

    monkeypatch.setattr(Activation, "_add", lambda *_: 1 / 0)
    train(collector(collect_activations="0"))
    assert [message for message in caplog.messages if "ZeroDivisionError" in message] == [
        "activation of '0' is not recorded: ZeroDivisionError: division by zero"
    ]


def test_what_records_a_compiled_module_is_not_compiled_with_it(directory, collector):
    codes, net = [], network()
    compiled = torch.compile(net, backend=lambda graph, _: codes.append(graph.code) or graph.forward)
    train(collector(freq=2, collect_activations="_orig_mod.0"), compiled, torch.optim.SGD(net.parameters(), lr=0.1))
    assert directory.steps() == {f"_orig_mod.0/{what}": [1, 2, 4, 5] for what in ("activation", "zeros")}
    assert codes
    assert not any("mean" in code for code in codes)    # the share of zeros


def test_an_exception_in_the_model_leaves_no_hook(collector):
    net = network()
    with pytest.raises(RuntimeError), Loop(net, None, [torch.ones(3, 5)], 1, collector(collect_activations="")) as loop:
        for batch in loop.steps():
            net(batch)
    assert not any(module._forward_hooks for module in net.modules())


def test_a_pattern_that_matches_nothing_is_told(collector, caplog):
    train(collector(collect_activations="conv"))
    assert "collect_activations 'conv' matches no module of a network of type Sequential" in caplog.messages


# --- how far a step moves the parameters ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["torch", "numpy"])
def test_how_far_a_step_moves_the_parameters(directory, collector, kind):
    ones = torch.ones if kind == "torch" else np.ones
    net = {"w": ones(4), "v": ones(4)}
    with Loop(net, None, range(5), 1, collector(freq=2, collect_update_ratio=True)) as loop:
        for _ in loop.steps():
            net["w"] += 1
    assert directory.steps() == {"w/update_ratio": [1, 2, 4, 5], "v/update_ratio": [1, 2, 4, 5]}
    np.testing.assert_allclose(directory.values("w/update_ratio"), [1, 1 / 2, 1 / 4, 1 / 5])
    assert directory.values("v/update_ratio") == [0, 0, 0, 0]
