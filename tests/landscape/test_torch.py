"""Modules of torch: nothing of them changes, and what is measured is what torch itself gives."""

from __future__ import annotations

import numpy as np
import pytest
from testkit import surfaces

from summarykit import Loop
from summarykit.collectors.landscape import LandscapeCollector
from summarykit.landscape import Evaluation, MindSporeRecipe, Recipe, SummaryLandscape
from summarykit.landscape.models import model_of, network_of

torch = pytest.importorskip("torch")
SETTINGS = {"landscape_size": 5, "num_samples": 40}


def network() -> torch.nn.Module:
    """Convolution, batch normalisation, dropout, and a linear layer that is tied to another."""
    torch.manual_seed(1)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Flatten(),
        torch.nn.Linear(8 * 36, 10), torch.nn.Linear(10, 10), torch.nn.Linear(10, 10),
    )  # fmt: skip
    net[7].weight = net[6].weight
    return net


def batches(size: int = 16):
    random = np.random.default_rng(0)
    images, labels = random.normal(size=(48, 1, 8, 8)).astype("f4"), random.integers(0, 10, 48)
    parts = [slice(start, start + size) for start in range(0, 48, size)]
    return [(torch.from_numpy(images[part]), torch.from_numpy(labels[part])) for part in parts]


def metrics():
    return {"Loss": torch.nn.CrossEntropyLoss(), "Accuracy": lambda outputs, target: (outputs.argmax(1) == target).float().mean()}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run, and the network as it was at its end."""
    directory, net = tmp_path_factory.mktemp("run"), network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    callback = LandscapeCollector(directory, [[1, 3, 5, 6]], **SETTINGS)
    with Loop(net, optimizer, batches(), 2, callback) as loop:
        for _ in loop.epochs():
            for images, labels in loop.steps():
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(net(images), labels).backward()
                optimizer.step()
    assert callback.stats()["stored"] == 4
    return directory, net


def computed(trained, make=None, **options):
    given = (None, network(), batches(), metrics())
    return SummaryLandscape(trained[0]).gen_landscapes_with_multi_process(make or (lambda: given), **options)


def contents(net):
    return {name: value.detach().numpy().tobytes() for name, value in net.state_dict().items()}


WAYS = {"stored": {}, "training": {"recipe": MindSporeRecipe()}, "estimated": {"batch_norm": "estimated"}}


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_ll1_the_model_comes_back_bit_identical(trained, options):
    net = network()
    net[3].eval()
    torch.nn.functional.cross_entropy(net(batches()[0][0]), batches()[0][1]).backward()
    before, gradients = contents(net), [parameter.grad.clone() for parameter in net.parameters()]
    objects = [id(parameter) for parameter in net.parameters()]
    modes, momenta = [module.training for module in net.modules()], net[1].momentum
    state = torch.get_rng_state()
    computed(trained, lambda: (None, net, batches(), metrics()), **options)
    assert contents(net) == before
    assert [module.training for module in net.modules()] == modes
    assert [id(parameter) for parameter in net.parameters()] == objects
    assert all(torch.equal(parameter.grad, gradient) for parameter, gradient in zip(net.parameters(), gradients, strict=True))
    assert torch.equal(torch.get_rng_state(), state)
    assert net[1].momentum == momenta
    assert all(parameter.requires_grad for parameter in net.parameters())


def test_ll1_an_error_in_a_metric_leaves_the_model_as_it_was(trained):
    net = network()
    before = contents(net)

    def failing(outputs, target):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        computed(trained, lambda: (None, net, batches(), {"Loss": failing}))
    assert contents(net) == before
    assert net.training


def direct(net, samples=40, **modes):
    """The loss and the accuracy of the first samples, computed in one go."""
    images, labels = (torch.cat(parts)[:samples] for parts in zip(*batches(), strict=True))
    was = net.training
    net.eval()
    with torch.no_grad():
        outputs = net(images)
    net.train(was)
    return torch.nn.functional.cross_entropy(outputs, labels).item(), (outputs.argmax(1) == labels).float().mean().item()


def test_ll2_the_value_at_the_centre_is_that_of_a_direct_evaluation(trained):
    path, result = computed(trained)
    loss, accuracy = direct(trained[1])
    assert path.path.z[-1] == pytest.approx(loss, rel=1e-6)
    assert result.convergence == (0, 0, pytest.approx(loss, rel=1e-6))
    assert result.z[2, 2] == pytest.approx(loss, rel=1e-6)
    assert result.metrics["Accuracy"][2, 2] == pytest.approx(accuracy)


@pytest.mark.parametrize("size", [1, 7, 48])
def test_the_size_of_batches_does_not_matter(trained, size):
    whole, _ = computed(trained)
    found, _ = computed(trained, lambda: (None, network(), batches(size), metrics()))
    np.testing.assert_allclose(found.z, whole.z, rtol=1e-5)


def test_ll3_losses_are_finite_in_every_normalisation(trained):
    for normalise in ("none", "filter", "layer"):
        for vectors in ("zero", "layer"):
            recipe = Recipe(path=normalise, random=normalise, vectors=vectors)
            for surface in computed(trained, recipe=recipe, collect_landscape={"landscape_size": 3}):
                assert np.isfinite(surface.z).all()


def test_statistics_that_are_estimated_are_those_of_the_samples(trained):
    net = network()
    _, result = computed(trained, lambda: (None, net, batches(40), metrics()), batch_norm="estimated")
    reference = trained[1]
    seen = reference[0](torch.cat([images for images, _ in batches()])[:40]).detach()
    normal = reference[1]
    kept = normal.running_mean.clone(), normal.running_var.clone()
    normal.running_mean.copy_(seen.mean((0, 2, 3)))
    normal.running_var.copy_(seen.var((0, 2, 3)))
    wanted, _ = direct(reference)
    normal.running_mean.copy_(kept[0])
    normal.running_var.copy_(kept[1])
    assert result.convergence[2] == pytest.approx(wanted, rel=1e-5)
    assert result.convergence[2] != pytest.approx(direct(reference)[0], rel=1e-3)


def test_statistics_of_a_module_that_is_called_twice_are_those_of_all_its_calls():
    """Each call counts by its samples, whichever comes last."""

    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.normal = torch.nn.BatchNorm1d(1, momentum=0.3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.normal(x) + self.normal(x + 10)

    net, means = Twice(), []

    def loss(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        means.append(float(net.normal.running_mean))
        return outputs.mean()

    data = [(torch.full((size, 1), float(size)) + torch.arange(size)[:, None], torch.zeros(size)) for size in (8, 8, 4)]
    model_of((None, net, data, {"Loss": loss}), Evaluation(20, batch_norm="estimated")).measure()
    assert means[0] == pytest.approx(torch.cat([inputs for inputs, _ in data]).mean().item() + 5, rel=1e-6)
    assert net.normal.momentum == 0.3


def test_training_mode_is_repeatable(trained):
    """Dropout begins anew for every block of points: the order and the process do not matter."""
    first, second = (computed(trained, recipe=MindSporeRecipe()) for _ in range(2))
    assert [each.z.tobytes() for each in first] == [each.z.tobytes() for each in second]


def test_weights_in_half_precision_can_be_drawn(tmp_path):
    net = torch.nn.Linear(6, 3).to(torch.bfloat16)
    with Loop(net, None, range(3), 1, LandscapeCollector(tmp_path, [[1, 2, 3]], landscape_size=3)) as loop:
        for _ in loop.steps():
            with torch.no_grad():
                net.weight.add_(torch.randn(3, 6).to(torch.bfloat16))
    data = [(torch.ones(4, 6, dtype=torch.bfloat16), torch.zeros(4, dtype=torch.long))]
    found = SummaryLandscape(tmp_path).gen_landscapes_with_multi_process(lambda: (None, net, data, {"Loss": torch.nn.CrossEntropyLoss()}))
    assert np.isfinite(found[0].z).all()


def test_tied_parameters_are_one(trained):
    names = network_of(network()).state()
    assert "6.weight" in names
    assert "7.weight" not in names


class Masked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, values, mask):
        return self.linear(values * mask)


@pytest.mark.parametrize("kind", ["mapping", "tuple", "arrays"])
def test_batches_of_any_structure(kind):
    values, mask, target = torch.randn(10, 4), torch.ones(10, 4), torch.randn(10, 2)
    if kind == "mapping":
        data = [{"values": values, "mask": mask}]
        metric = lambda outputs, batch: (outputs + 0 * batch["mask"][:, :2] - target[:7]).square().mean()    # noqa: E731
    elif kind == "tuple":
        data, metric = [(values, mask, target)], lambda outputs, target: (outputs - target).square().mean()
    else:
        data, metric = [(values.numpy(), mask.numpy(), target.numpy())], torch.nn.MSELoss()
    net = Masked()
    model = model_of((None, net, data, {"Loss": metric}), Evaluation(num_samples=7))
    model.prepare()
    assert model.measure()["Loss"] == pytest.approx((net(values, mask)[:7] - target[:7]).square().mean().item(), rel=1e-6)


MEMORY = """
import sys, re, torch
from testkit import surfaces
from summarykit import Loop
from summarykit.collectors.landscape import LandscapeCollector
from summarykit.landscape import SummaryLandscape
def memory():
    return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1000
net = torch.nn.Sequential(torch.nn.Linear(1000, 5000), torch.nn.ReLU(), torch.nn.Linear(5000, 1000))    # 10 M parameters: 40 MB
data = [(torch.randn(8, 1000), torch.randn(8, 1000))]
with Loop(net, None, range(3), 1, LandscapeCollector(sys.argv[1], [[1, 2, 3]], landscape_size=13)) as loop:
    for _ in loop.steps():
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.add_(torch.randn_like(parameter), alpha=0.01)
before, seen = memory(), []
SummaryLandscape(sys.argv[1]).gen_landscapes_with_multi_process(
    lambda: (None, net, data, {"Loss": torch.nn.MSELoss()}), report=lambda progress: seen.append(memory() - before),
    collect_landscape={"create_landscape": {"train": True, "result": False}})
print(max(seen), seen[1], seen[-1])
"""


def test_ll8_memory_is_constant_and_small(tmp_path, run_script):
    """Over model and directions: the 40 MB that bring the user's model back, and room for the largest layer; flat over the grid."""
    tests = str(surfaces.Path(surfaces.__file__).parents[1])
    done = run_script(MEMORY, tmp_path, env={"PYTHONPATH": tests, "OMP_NUM_THREADS": "1"}).expect_success()    # each thread has buffers
    peak, early, late = map(float, done.stdout.split())
    assert peak < 40 + 2 * 40 + 0.1 * 40
    assert late - early < 8


def small():
    torch.manual_seed(3)
    nn = torch.nn
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 12), nn.BatchNorm1d(12), nn.Tanh(), nn.Linear(12, 10))


@pytest.fixture(scope="module")
def shallow(tmp_path_factory):
    directory, net = tmp_path_factory.mktemp("run"), small()
    with Loop(net, None, batches(), 1, LandscapeCollector(directory, [[1, 2, 3]], **SETTINGS)) as loop:
        for images, _ in loop.steps():
            net(images)
            with torch.no_grad():
                for parameter in net.parameters():
                    parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return directory, net


def test_several_points_at_once_have_the_same_losses_as_one_after_the_other(shallow, monkeypatch, caplog):
    together = computed(shallow, lambda: (None, small(), batches(), metrics()))
    assert not caplog.records
    monkeypatch.setattr("summarykit.landscape.models.torch_points.pays", lambda network: False)
    alone = computed(shallow, lambda: (None, small(), batches(), metrics()))
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.z, other.z, rtol=1e-5)
        np.testing.assert_allclose(one.metrics["Accuracy"], other.metrics["Accuracy"], rtol=1e-6)
        np.testing.assert_allclose(one.convergence, other.convergence, rtol=1e-5)
    loss, _ = direct(shallow[1])
    assert together[1].convergence[2] == pytest.approx(loss, rel=1e-6)


def test_a_metric_that_takes_numbers_out_is_measured_one_after_the_other(shallow):
    given = {"Loss": torch.nn.CrossEntropyLoss(), "Largest": lambda outputs, target: outputs.max().item()}
    found = computed(shallow, lambda: (None, small(), batches(48), given))
    assert np.isfinite(found[0].metrics["Largest"]).all()


def test_several_points_at_once_leave_the_model_as_it_was(shallow):
    net = small()
    before = contents(net)
    computed(shallow, lambda: (None, net, batches(), metrics()))
    assert contents(net) == before
    assert net.training
