"""``batch_norm="estimated"``: running statistics are taken anew at each point, as a direct computation does."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from summarykit.landscape import Evaluation
from summarykit.landscape.models import model_of

RANDOM = np.random.default_rng(0)
BATCHES = [(RANDOM.normal(2, 3, (size, 4)).astype("f4"), RANDOM.normal(size=size).astype("f4")) for size in (8, 8, 4)]
ESTIMATED = Evaluation(20, batch_norm="estimated")


def network():
    return {"kernel": RANDOM.normal(size=4).astype("f4"), "mean": np.zeros(4, "f4"), "deviation": np.ones(4, "f4")}


def loss(network, batch):
    inputs, target = batch
    return ((((inputs - network["mean"]) / network["deviation"]) @ network["kernel"] - target) ** 2).mean()


def statistics(network, batch):
    return {"mean": batch[0].mean(0), "deviation": batch[0].std(0)}


def wanted(network):
    by_batch = [statistics(network, batch) for batch in BATCHES]
    sizes = [len(batch[0]) for batch in BATCHES]
    averaged = {name: np.average([each[name] for each in by_batch], axis=0, weights=sizes) for name in ("mean", "deviation")}
    known = {**network, **averaged}
    return loss(known, tuple(np.concatenate(part) for part in zip(*BATCHES, strict=True)))


def test_a_mapping_of_arrays_with_the_users_function():
    given = network()
    model = model_of((statistics, given, BATCHES, {"Loss": loss}), ESTIMATED)
    with model.restored():
        assert model.measure()["Loss"] == pytest.approx(wanted(given), rel=1e-6)
    assert not given["mean"].any()


def test_parameters_of_jax_with_the_users_function(tmp_path):
    jax = pytest.importorskip("jax")
    from summarykit.landscape import weights
    from summarykit.landscape.directions import at_random
    from summarykit.landscape.plane import Plane
    from summarykit.landscape.recipe import Recipe

    given = jax.tree_util.tree_map(jax.numpy.asarray, network())
    model = model_of((statistics, given, BATCHES, {"Loss": loss}), ESTIMATED)
    assert model.measure()["Loss"] == pytest.approx(float(wanted(given)), rel=1e-5)
    weights.save(tmp_path / "centre", {name: np.asarray(each) for name, each in given.items()}, {"parameters": ["kernel"]})
    at_random(weights.open_safetensors(tmp_path / "centre"), Recipe(vectors="layer"), tmp_path / "plane")
    plane, points = Plane(tmp_path / "plane"), np.array([[0.0, 0.0], [0.5, -1.0]])
    found = model.survey(plane, points)    # several at once
    direct = [float(wanted({**given, **dict(plane.at(x, y))})) for x, y in points]
    np.testing.assert_allclose([each["Loss"] for each in found], direct, rtol=1e-5)


@pytest.mark.parametrize(("model", "network", "said"), [
    (None, network(), "as model a function"),
    (lambda network, batch: {"strange": 0.0}, network(), "strange"),
])  # fmt: skip
def test_what_cannot_be_estimated_is_said(model, network, said):
    with pytest.raises(ValueError, match=said):
        model_of((model, network, BATCHES, {"Loss": loss}), ESTIMATED).measure()


KERAS = """
import numpy as np, keras
from summarykit.landscape import Evaluation
from summarykit.landscape.models import model_of
keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
data = [(random.normal(2, 3, size=(size, 6, 6, 1)).astype("f4"), random.integers(0, 3, size)) for size in (8, 8, 4)]
inner = keras.Sequential([keras.Input((6, 6, 1)), keras.layers.Conv2D(4, 3), keras.layers.BatchNormalization()])
frozen = keras.layers.BatchNormalization()
frozen.trainable = False
net = keras.Sequential([keras.Input((6, 6, 1)), inner, frozen, keras.layers.Flatten(), keras.layers.Dropout(0.5), keras.layers.Dense(3)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
conv, normal = inner.layers
convert = keras.ops.convert_to_numpy
before = [np.array(convert(each)) for each in net.variables]
model = model_of((net, net, data, {"Loss": loss}), Evaluation(20, batch_norm="estimated"))
with model.restored():
    found = model.measure()["Loss"]
    assert found == model.measure()["Loss"]    # nothing of the first time is left
assert normal.momentum == 0.99 and "call" not in vars(normal)
assert all((np.array(convert(now)) == then).all() for now, then in zip(net.variables, before))
moments = [[getattr(convert(conv(images)), name)((0, 1, 2)) for name in ("mean", "var")] for images, _ in data]
normal.moving_mean.assign(np.average([mean for mean, _ in moments], 0, weights=(8, 8, 4)))
normal.moving_variance.assign(np.average([variance for _, variance in moments], 0, weights=(8, 8, 4)))
images, labels = (np.concatenate(parts) for parts in zip(*data))
np.testing.assert_allclose(found, float(loss(labels, net(images, training=False))), rtol=1e-4)
"""

# A layer that is called several times: each call counts by its samples, whichever comes last.
KERAS_TWICE = """
import numpy as np, keras
from summarykit.landscape import Evaluation
from summarykit.landscape.models import model_of
data = [(np.full((size, 1), size, "f4") + np.arange(size, dtype="f4")[:, None], np.zeros(size, "f4")) for size in (8, 8, 4)]
normal, inputs = keras.layers.BatchNormalization(momentum=0.3), keras.Input((1,))
normal.call = call = normal.call    # as one that somebody has wrapped
net = keras.Model(inputs, normal(inputs) + normal(inputs + 10.0))
convert, means = keras.ops.convert_to_numpy, []

def loss(labels, outputs):
    means.append(float(convert(normal.moving_mean)[0]))
    return keras.ops.mean(outputs)

model_of((net, net, data, {"Loss": loss}), Evaluation(20, batch_norm="estimated")).measure()
np.testing.assert_allclose(means[0], np.concatenate([inputs for inputs, _ in data]).mean() + 5, rtol=1e-6)
assert normal.momentum == 0.3
assert normal.call is call
"""


@pytest.mark.parametrize("backend", ["torch", "jax"])
@pytest.mark.parametrize("code", [KERAS, KERAS_TWICE], ids=["once", "twice"])
def test_layers_of_keras(run_script, backend, code):
    if not (find_spec("keras") and find_spec(backend)):
        pytest.skip(f"could not import 'keras' or {backend!r}")
    run_script(code, env={"KERAS_BACKEND": backend}).expect_success()


MINDSPORE = """
import numpy as np, mindspore as ms
from mindspore import nn
from mindspore.train import Loss, Model
from summarykit.landscape import Evaluation
from summarykit.landscape.models import model_of
ms.set_device("CPU")
random = np.random.default_rng(0)
sizes = 8, 8, 4
drawn = [(random.normal(2, 3, size=(size, 1, 6, 6)).astype("f4"), random.integers(0, 3, size).astype("i4")) for size in sizes]
data = [tuple(map(ms.Tensor, batch)) for batch in drawn]
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    net = nn.SequentialCell(
        nn.Conv2d(1, 4, 3, pad_mode="valid"), nn.BatchNorm2d(4), nn.BatchNorm2d(4, use_batch_statistics=False), nn.Flatten(),
        nn.Dropout(p=0.5), nn.Dense(64, 3))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    given = Model(net, loss, metrics={"Loss": Loss()}), net, data, {"Loss": Loss()}
    normal, operator = net[1], net[1].bn_train
    before = {name: value.asnumpy().copy() for name, value in net.parameters_dict().items()}
    model = model_of(given, Evaluation(20, batch_norm="estimated"))
    with model.restored():
        model.prepare()
        found = model.measure()["Loss"]
        np.testing.assert_allclose(model.measure()["Loss"], found, rtol=1e-6)
    assert normal.bn_train is operator
    assert all((value.asnumpy() == before[name]).all() for name, value in net.parameters_dict().items())
    outputs = [net[0](images).asnumpy() for images, _ in data]
    means, variances = ([getattr(each.transpose(1, 0, 2, 3).reshape(4, -1), name)(1, **more) for each in outputs]
                        for name, more in (("mean", {}), ("var", {"ddof": 1})))
    normal.moving_mean.set_data(ms.Tensor(np.average(means, 0, weights=sizes), ms.float32))
    normal.moving_variance.set_data(ms.Tensor(np.average(variances, 0, weights=sizes), ms.float32))
    net.set_train(False)
    images, labels = (ms.Tensor(np.concatenate(parts)) for parts in zip(*drawn))
    np.testing.assert_allclose(found, loss(net(images), labels).asnumpy(), rtol=1e-4)
"""

MINDSPORE_TWICE = """
import numpy as np, mindspore as ms
from mindspore import nn
from mindspore.train import Loss, Model
from summarykit.landscape import Evaluation
from summarykit.landscape.models import model_of
ms.set_device("CPU")

class Twice(nn.Cell):
    def __init__(self):
        super().__init__()
        self.normal, self.other = nn.BatchNorm1d(1), nn.BatchNorm1d(1)
    def construct(self, x):
        return self.normal(x) + self.normal(2 * x + 10) + self.other(x)

sizes = 8, 8, 4
drawn = [(np.full((size, 1), size, "f4") + np.arange(size, dtype="f4")[:, None], np.zeros((size, 1), "f4")) for size in sizes]
data = [tuple(map(ms.Tensor, batch)) for batch in drawn]
inputs = [batch[0] for batch in drawn]
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    net, loss = Twice(), nn.MSELoss()
    names, operator = list(net.parameters_dict()), net.normal.bn_train
    model = model_of((Model(net, loss, metrics={"Loss": Loss()}), net, data, {"Loss": Loss()}), Evaluation(20, batch_norm="estimated"))
    with model.restored():
        model.prepare()
        for time in range(2):    # nothing of the first time is left
            model.measure()
            mean, variance = (each.asnumpy() for each in (net.normal.moving_mean, net.normal.moving_variance))
            np.testing.assert_allclose(mean, np.mean(np.concatenate(inputs)) * 1.5 + 5, rtol=1e-5)
            np.testing.assert_allclose(variance, np.average([each.var(ddof=1) for each in inputs], weights=sizes) * 2.5, rtol=1e-5)
            np.testing.assert_allclose(net.other.moving_mean.asnumpy(), np.mean(np.concatenate(inputs)), rtol=1e-5)
    assert (list(net.parameters_dict()), net.normal.bn_train) == (names, operator)
"""

# A cell that some batches do not come to, one that none comes to, and a batch that fails.
MINDSPORE_RARELY = """
import numpy as np, mindspore as ms
from mindspore import nn
from summarykit.landscape.models.mindspore_statistics import MindSporeStatistics
ms.set_device("CPU")
ms.set_context(mode=ms.PYNATIVE_MODE)

class Rarely(nn.Cell):
    def __init__(self):
        super().__init__()
        self.always, self.rarely, self.never = (nn.BatchNorm1d(1, moving_mean_init=5.0) for _ in range(3))
    def construct(self, x):
        return self.rarely(self.always(x)) if len(x) == 8 else self.always(x)

def fail(batch):
    net(*batch)
    raise RuntimeError("as a batch that is too large")

net = Rarely()
net.set_train(False)
statistics = MindSporeStatistics(net)
batches = [(ms.Tensor(np.full((size, 1), value, "f4")),) for size, value in ((8, 1.0), (8, 3.0), (4, 10.0))]
try:
    statistics.estimate(fail, batches[::-1])
except RuntimeError:
    statistics.estimate(lambda batch: net(*batch), batches)
np.testing.assert_allclose([float(each.moving_mean) for each in (net.always, net.rarely, net.never)], [3.6, 0.0, 5.0], atol=1e-5)
np.testing.assert_allclose([float(each.moving_variance) for each in (net.always, net.rarely, net.never)], [0.0, 0.0, 1.0], atol=1e-5)
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [MINDSPORE, MINDSPORE_TWICE, MINDSPORE_RARELY], ids=["once", "twice", "rarely"])
def test_cells_of_mindspore(mindspore_python, run_script, tmp_path, code):
    script = tmp_path / "script.py"    # the compiler reads a class's source from its file
    script.write_text(code)
    run_script(script, python=mindspore_python).expect_success()
