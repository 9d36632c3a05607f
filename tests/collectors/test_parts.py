"""The contract that every part keeps, and what each finds in the frameworks' objects."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from summarykit.collectors import PARTS, SummaryCollector
from summarykit.collectors.input_data import image_layout
from summarykit.collectors.learning_rate import rates
from summarykit.collectors.network import named_gradients, named_parameters
from summarykit.collectors.settings import Settings, specified_data
from summarykit.collectors.tensor import MOST, Tensor
from summarykit.kinds import KINDS
from summarykit.notices import Notices
from summarykit.summary.tags import check_tag
from summarykit.training import CallbackParams, Loop
from summarykit.training.triggers import Place, Trigger


class Gathered:
    """A sink that keeps what it is given, and refuses what no record would take."""

    def __init__(self):
        self.values = []

    def add(self, kind, tag, value, **options):
        assert kind in KINDS
        check_tag("tag", tag)
        self.values.append((kind, tag, np.array(value), options))


ASKED = {
    "landscape": {"collect_landscape": {"intervals": [[1, 2, 3]]}},
    "activation": {"collect_activations": ""},
    "update_ratio": {"collect_update_ratio": True},
    "optimizer_state": {"collect_optimizer_state": True},
}
"""What is off by default."""


def make(name, **specified):
    specified = {**ASKED.get(name, {}), **specified}
    types = [PARTS.get(each) for each in PARTS]
    settings = Settings(10, None, specified_data(specified, True, types), {})
    assert PARTS.get(name).wanted(settings)
    return PARTS.get(name)(settings, Notices())


def params(**fields):
    return CallbackParams(mode="train", cur_step_num=3, cur_epoch_num=1, epoch_num=1, batch_num=9, reported={}, **fields)


@pytest.fixture
def rich(network):
    """A run in which every part finds something."""
    found = params(network=network, optimizer={"lr": 0.1, "momentum": 0.9}, train_dataset_element=(np.zeros((4, 1, 8, 8)), np.zeros(4)))
    found.reported.update(loss=0.5, activations=np.ones((2, 3)))
    return found


FIELDS = ("network", "optimizer", "train_dataset_element")
every_part = pytest.mark.parametrize("name", PARTS.names())
# Those that find something in every step of a loop of NumPy's. The others have tests of their own.
RECORDING = ("metric", "learning_rate", "parameter", "gradient", "gradient_norm", "optimizer", "input_data", "tensor")
every_recording_part = pytest.mark.parametrize("name", RECORDING)


@pytest.mark.parametrize("name", [name for name in PARTS.names() if PARTS.get(name).key])
def test_its_key_has_a_default_that_it_accepts_and_refuses_others(name):
    part = PARTS.get(name)
    part.check(part.default)
    for wrong in (object(), 3, [True]):
        with pytest.raises(TypeError, match=part.key):
            part.check(wrong)


def test_keys_are_different():
    assert len({PARTS.get(name).key for name in PARTS}) == len(PARTS.names())


@every_recording_part
def test_it_has_a_rule_that_holds_at_the_first_and_the_last_step(name):
    part = make(name)
    part.begin(params(), Gathered())
    assert isinstance(part.trigger, Trigger)
    assert part.trigger.fires(Place(1), None, False)
    assert part.trigger.fires(Place(7), Place(6), True)
    assert not part.trigger.fires(Place(7), Place(6), False)


@pytest.mark.parametrize("name", [name for name in PARTS.names() if name != "train_lineage"])    # that a run takes place is to be told
@pytest.mark.parametrize("empty", [{}, dict.fromkeys(FIELDS), {"network": object(), "optimizer": object()}])
def test_it_finds_nothing_where_there_is_nothing(name, empty, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    part, sink = make(name), Gathered()
    part.begin(params(**empty), sink)
    part.prepare(params(**empty))
    part.collect(params(**empty), sink)
    part.collect(CallbackParams(cur_step_num=1), sink)
    part.collect_report({}, "eval/", sink)
    part.end()
    assert sink.values == []


@every_recording_part
def test_it_collects_without_changing_anything_and_does_so_again(name, rich):
    part, sinks, before = make(name), (Gathered(), Gathered()), copy.deepcopy(rich)
    part.begin(rich, Gathered())
    for sink in sinks:
        part.prepare(rich)
        part.collect(rich, sink)
    assert sinks[0].values
    assert repr(sinks[0].values) == repr(sinks[1].values)
    before.network, kept = rich.network, before.network
    assert repr(before) == repr(rich)
    for name_, value in kept.parameters.items():
        np.testing.assert_array_equal(value, rich.network.parameters[name_])


@every_recording_part
def test_it_is_silent_where_its_key_is_false(name, directory, rich):
    key = PARTS.get(name).key
    off = {PARTS.get(each).key: False for each in PARTS if PARTS.get(each).key and PARTS.get(each).default is True}
    specified = {**off, key: PARTS.get(name).default}    # all others are off
    collector = SummaryCollector(directory.path, keep_default_action=False, collect_specified_data=specified)
    with Loop(rich.network, rich.optimizer, [rich.train_dataset_element], 1, collector) as loop:
        for _ in loop.steps():
            loop.report(rich.reported)
    sink = Gathered()
    part = make(name)
    part.prepare(rich)
    part.collect(rich, sink)
    assert set(directory.steps()) == {tag for _, tag, _, _ in sink.values}


# --- learning rates -------------------------------------------------------------------------------------------------


class Plain:
    def __init__(self, **fields):
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        (Plain(param_groups=[{"lr": 0.1}]), {"": 0.1}),
        (Plain(param_groups=[{"lr": 0.1}, {"lr": 0.2, "name": "head"}]), {"0": 0.1, "head": 0.2}),
        (Plain(get_lr=lambda: 0.3), {"": 0.3}),
        (Plain(get_lr=lambda: (0.3, 0.4)), {"0": 0.3, "1": 0.4}),
        (Plain(learning_rate=0.5, lr=0.1), {"": 0.5}),
        (Plain(lr=lambda: 0.6), {"": 0.6}),
        (Plain(learning_rate=lambda step: 0.1 * step), {"": 0.2}),
        ({"learning_rate": 0.7, "momentum": 0.9}, {"": 0.7}),
        ({"g": {"lr": 0.1}, "critic": Plain(param_groups=[{"lr": 1}, {"lr": 2}])}, {"g": 0.1, "critic/0": 1, "critic/1": 2}),
        ([{"lr": 0.1}, {"lr": 0.2}], {"0": 0.1, "1": 0.2}),
        (Plain(), {}),
        (None, {}),
        ("adam", {}),
        ({}, {}),
        (Plain(param_groups=[{"params": []}]), {}),
    ],
)
def test_learning_rates_of_many_optimizers(optimizer, expected):
    assert dict(rates(optimizer, 2)) == pytest.approx(expected)


def test_the_rate_recorded_is_that_of_the_step_and_not_of_the_next(directory):
    optimizer = {"lr": 1.0}
    with Loop(None, optimizer, range(30), 1, SummaryCollector(directory.path)) as loop:
        for _ in loop.steps():
            optimizer["lr"] = 1 / (loop.step + 1)  # a scheduler moves on after the update
    assert directory.steps()["learning_rate"] == [1, 10, 20, 30]
    np.testing.assert_allclose(directory.values("learning_rate"), [1, 1 / 10, 1 / 20, 1 / 30])


def test_an_optimizer_without_a_learning_rate_is_told_once(directory, caplog):
    with Loop(None, object(), range(30), 1, SummaryCollector(directory.path, 1)) as loop:
        list(loop.steps())
    assert len([message for message in caplog.messages if "no learning rate in an optimizer of type object" in message]) == 1


# --- parameters and gradients ---------------------------------------------------------------------------------------


class Cell:
    """As a MindSpore cell."""

    def parameters_and_names(self):
        yield "conv1.weight", np.ones(2)


class KerasModel:
    """As a Keras 3 model; and with a method ``value``, as in TensorFlow."""

    def __init__(self):
        kernel, bias = Plain(path="dense/kernel", name="kernel", value=np.ones(2)), Plain(name="bias", value=lambda: np.zeros(2))
        self.trainable_variables = [kernel, bias]


@pytest.mark.parametrize(
    ("network", "names"),
    [
        (Cell(), ["conv1.weight"]),
        (KerasModel(), ["dense/kernel", "bias"]),
        ({"params": {"Dense_0": {"kernel": np.ones(2), "bias": np.ones(2)}}}, ["params/Dense_0/kernel", "params/Dense_0/bias"]),
        (Plain(parameters={"w": np.ones(2)}), ["w"]),
        (Plain(parameters=list), []),
        (object(), []),
        (None, []),
        ({}, []),
    ],
)
def test_parameters_of_many_networks(network, names):
    found = dict(named_parameters(network))
    assert list(found) == names
    assert all(isinstance(value, np.ndarray) for value in found.values())


def test_gradients_of_many_networks():
    assert dict(named_gradients(Plain(gradients={"w": 1, "frozen": None}))) == {"w": 1}
    assert dict(named_gradients(Cell())) == {}
    assert dict(named_gradients(None)) == {}
    assert dict(named_gradients(Plain(parameters={"w": Plain(grad=2)}))) == {"w": 2}


def test_a_torch_module(directory):
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    model[0].bias.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    with Loop(model, optimizer, [torch.randn(8, 3) for _ in range(12)], 1, SummaryCollector(directory.path)) as loop:
        for batch in loop.steps():
            optimizer.zero_grad()
            loss = model(batch).square().sum()
            loss.backward()
            optimizer.step()
            loop.report(loss=loss)
    assert set(directory.values("learning_rate")) == {0.25}
    names = ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert directory.tags("histogram") == {f"{name}/auto" for name in names} | {f"{name}/gradient" for name in names if name != "0.bias"}
    last = directory.values("0.weight/auto")[-1]
    assert (last.count, last.min, last.max) == (6, model[0].weight.min().item(), model[0].weight.max().item())
    assert directory.values("0.weight/gradient")[-1].max == model[0].weight.grad.max().item()
    assert directory.values("loss")[-1] == loss.item()


def test_gradients_that_are_zeroed_too_early_are_told_once(directory, caplog):
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(3, 2)
    with Loop(model, None, [torch.randn(8, 3) for _ in range(4)], 1, SummaryCollector(directory.path, 1)) as loop:
        for batch in loop.steps():
            model(batch).sum().backward()
            model.zero_grad()
    assert len([message for message in caplog.messages if "no gradients at the end of a step" in message]) == 1


def test_gradients_that_are_gone_at_an_unforeseen_end_are_no_mistake(directory, caplog):
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with Loop(model, optimizer, None, 1, SummaryCollector(directory.path, 2)) as loop:
        for batch in loop.steps(iter([torch.randn(8, 3) for _ in range(5)])):
            model(batch).sum().backward()
            optimizer.step()
            model.zero_grad()
    assert directory.steps()["weight/gradient"] == [1, 2, 4]
    assert not [message for message in caplog.messages if "no gradients" in message]


# --- input data -----------------------------------------------------------------------------------------------------


def feed(directory, batch, steps=3, **specified):
    with Loop(train_dataset=[batch] * steps, callbacks=SummaryCollector(directory.path, 1, 1, specified)) as loop:
        list(loop.steps())
    return [point.step for point in directory.points() if point.kind == "image"]


grey = np.linspace(0, 1, 6 * 40 * 40).reshape(6, 1, 40, 40)


@pytest.mark.parametrize(
    ("batch", "shape"),
    [
        ((grey, np.arange(6)), (40, 240)),
        ([np.zeros((2, 48, 40, 3), np.uint8)], (48, 80, 3)),
        (np.zeros((20, 3, 32, 32), np.uint8), (64, 256, 3)),
        ({"text": ["a"], "pixel_values": grey, "labels": np.arange(6)}, (40, 240)),
        ((np.zeros((2, 1, 8, 8)), None), (64, 128)),
        ((np.zeros((2, 8, 8, 1), np.uint8), None), (64, 128)),
    ],
)
def test_im7_a_batch_of_images_is_recorded(directory, batch, shape):
    assert feed(directory, batch) == [1, 2, 3]
    assert directory.picture("input_data/auto").shape[: len(shape)] == shape


@pytest.mark.parametrize("asked", [{}, {"collect_input_data": True}], ids=["default", "asked for"])
@pytest.mark.parametrize(
    "batch",
    [
        np.zeros((2, 512), np.int64), {"input_ids": np.zeros((2, 512), np.int64)}, {"x": "text"}, {}, (), [], "text", 3, object(),
        np.zeros((2, 5, 40, 40)), np.zeros((0, 3, 8, 8)), np.zeros((2, 3, 0, 8)), [["a", "b"], [1, 2]], np.zeros(()),
    ],
    ids=lambda batch: "object" if type(batch) is object else repr(batch),
)
def test_im7_any_other_batch_harms_nothing_and_is_told_once_to_whom_asked_for_images(directory, batch, asked, caplog):
    assert feed(directory, batch, **asked) == []
    assert len([message for message in caplog.messages if "input data is not recorded" in message]) == len(asked)


def test_im7_a_large_torch_batch_in_the_other_layout(directory):
    torch = pytest.importorskip("torch")
    assert feed(directory, {"image": torch.zeros(2, 512, 512, 3, dtype=torch.uint8)}, steps=1) == [1]


def test_small_torch_images_are_enlarged(directory):
    torch = pytest.importorskip("torch")
    feed(directory, (torch.arange(4, dtype=torch.uint8).reshape(1, 1, 2, 2) * 80, None), steps=1)
    picture = directory.picture("input_data/auto")
    grey = picture if picture.ndim == 2 else picture[..., 0]
    np.testing.assert_array_equal(grey, np.kron(np.array([[0, 80], [160, 240]]), np.ones((32, 32))))


def test_normalised_images_of_bfloat16(directory):
    torch = pytest.importorskip("torch")
    feed(directory, (torch.linspace(-1, 3, 32 * 32).bfloat16().reshape(1, 1, 32, 32), None), steps=1)
    picture = directory.picture("input_data/auto")
    assert (picture.min(), picture.max()) == (0, 255)


def test_layouts():
    assert image_layout(np.zeros((2, 3, 5, 6))) == "NCHW"
    assert image_layout(np.zeros((2, 5, 6, 3))) == "NHWC"
    assert image_layout(np.zeros((2, 3, 5, 3))) == "NCHW"
    assert image_layout(np.zeros((2, 5, 6, 7))) is None


# --- tensors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("freq", [1, 3, 10, 1000])
@pytest.mark.parametrize("total", [1, 2, 19, 20, 21, 37, 38, 39, 40, 600, 5000])
def test_the_automatic_rule_takes_at_most_twenty_and_reaches_the_end(freq, total):
    settings = Settings(freq, None, {}, {})
    part = Tensor(settings, Notices())
    part.begin(CallbackParams(epoch_num=1, batch_num=total), Gathered())
    steps = [n for n in range(1, total + 1) if part.trigger.fires(Place(n), Place(n - 1) if n > 1 else None, n == total)]
    assert (steps[0], steps[-1]) == (1, total)
    assert len(steps) <= MOST
    gaps = np.diff(steps)
    assert len(gaps) == 0 or gaps.max() <= max(freq, total // (MOST - 1) + 1)
