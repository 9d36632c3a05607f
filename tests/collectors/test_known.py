"""What is known of a network from one step to the next is what a walk through it would find."""

from __future__ import annotations

import gc
import weakref
from itertools import islice
from types import SimpleNamespace

import pytest

from summarykit.collectors.known import Known, KnownGradients
from summarykit.collectors.network import named_gradients, named_parameters

torch = pytest.importorskip("torch")


def first_two(named):
    return islice(named, 2)


def network():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(3, 1)))
    for parameter in net.parameters():
        parameter.grad = torch.ones_like(parameter)
    return net


def nothing(net):
    pass


def another_parameter_in_front(net):
    net.register_parameter("scale", torch.nn.Parameter(torch.ones(1)))
    net.scale.grad = torch.ones(1)


def another_layer(net):
    net[-1].append(torch.nn.Linear(1, 1))
    net[-1][-1].weight.grad = torch.ones(1, 1)


def a_layer_replaced(net):
    net[0] = torch.nn.Linear(2, 3)
    net[0].bias.grad = torch.ones(3)


def a_parameter_put_in_place(net):
    net[0]._parameters["weight"] = torch.nn.Parameter(torch.ones(3, 2))


def a_layer_taken_out(net):
    del net[0]


def another_name(net):
    net[-1][1]._parameters["offset"] = net[-1][1]._parameters.pop("bias")


def another_name_for_the_first(net):
    net[0]._parameters = {{"weight": "kernel"}.get(name, name): value for name, value in net[0]._parameters.items()}


def a_gradient_less(net):
    net[0].weight.grad = None


def other_gradients(net):
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)


def gradients_of_its_own(net):
    net.gradients = {"own": torch.ones(2)}


CHANGES = (
    nothing, another_parameter_in_front, another_layer, a_layer_replaced, a_parameter_put_in_place, a_layer_taken_out, another_name,
    another_name_for_the_first, a_gradient_less, other_gradients, gradients_of_its_own,
)  # fmt: skip


def same(found, expected):
    return len(found) == len(expected) and all(a == b and one is other for (a, one), (b, other) in zip(found, expected, strict=True))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("choose", [iter, first_two], ids=["all", "the first two"])
@pytest.mark.parametrize(("kind", "walk"), [(Known, named_parameters), (KnownGradients, named_gradients)], ids=["parameters", "gradients"])
def test_what_is_found_is_what_a_walk_finds(kind, walk, choose, change):
    known, net = kind(choose), network()
    for turn in (nothing, change, nothing, another_layer, nothing):
        turn(net)
        assert same(known.of(net), list(choose(walk(net))))


def test_a_gradient_that_comes_back_is_among_the_first_again():
    known, net = KnownGradients(first_two), network()
    gradient, net[0].weight.grad = net[0].weight.grad, None
    assert [name for name, _ in known.of(net)] == ["0.bias", "1.1.weight"]
    net[0].weight.grad = gradient
    assert [name for name, _ in known.of(net)] == ["0.weight", "0.bias"]


def test_an_unchanged_network_is_not_walked_through_again(monkeypatch):
    known, net = KnownGradients(first_two), network()
    first = known.of(net)
    monkeypatch.setattr(Known, "_walked", None)
    assert same(known.of(net), first)


class Sparing(torch.nn.Module):
    """Registers what it does without, as many layers do, and something twice."""

    def __init__(self):
        super().__init__()
        for name in ("bias", "scale", "offset"):
            self.register_parameter(name, None)
        self.weight = self.tied = torch.nn.Parameter(torch.ones(1))
        self.other, self.another = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))


@pytest.mark.parametrize("name", ["bias", "weight", "other"])
def test_a_module_that_does_without_some_of_its_parameters(name):
    known, net = Known(first_two), Sparing()
    known.of(net)
    setattr(net, name, torch.nn.Parameter(torch.ones(1)))
    assert same(known.of(net), list(first_two(net.named_parameters())))


def test_a_parameter_that_moves_to_the_next_module():
    known, net = Known(iter), torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Identity(), torch.nn.Tanh())
    known.of(net)
    net[1].bias = net[0]._parameters.pop("bias")
    assert [name for name, _ in known.of(net)] == ["0.weight", "1.bias"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("around", [lambda traced: traced, torch.nn.Sequential], ids=["alone", "within another"])
def test_torchscript_is_walked_through_each_time(around):
    known, net = KnownGradients(iter), around(torch.jit.trace(network(), torch.ones(1, 2)))
    for factor in (1, 2):
        for parameter in net.parameters():
            parameter.grad = torch.full_like(parameter, factor)
        found = known.of(net)
        assert [name for name, _ in found] == [name for name, _ in net.named_parameters()]
        assert all(float(gradient.max()) == factor for _, gradient in found)


class Renaming(torch.nn.Linear):
    names = "first"

    def named_parameters(self, *args, **kwargs):
        return ((f"{self.names}/{name}", value) for name, value in super().named_parameters(*args, **kwargs))


def test_who_has_a_way_of_its_own_is_asked_each_time():
    known, net = Known(iter), Renaming(2, 1)
    assert [name for name, _ in known.of(net)] == ["first/weight", "first/bias"]
    net.names = "second"
    assert [name for name, _ in known.of(net)] == ["second/weight", "second/bias"]


def test_networks_of_others_and_none():
    other = SimpleNamespace(parameters={"w": 1}, gradients={"w": 2})
    assert (Known(iter).of(other), KnownGradients(iter).of(other)) == ([("w", 1)], [("w", 2)])
    assert Known(iter).of(None) == KnownGradients(iter).of(None) == []
    assert Known(first_two).of(torch.nn.Tanh()) == []


def test_another_network_takes_the_place_of_the_first_and_that_is_let_go_of():
    known, first, second = Known(iter), network(), network()
    known.of(first)
    gone = weakref.ref(first)
    assert same(known.of(second), list(named_parameters(second)))
    del first
    gc.collect()
    assert gone() is None
    gone = weakref.ref(second)
    known.forget()
    del second
    gc.collect()
    assert gone() is None
